/** The helpers of pawaPay's API: predictions, the account's configuration, which networks work. */
import type { SimulatorAnswer, SimulatorRequest } from '../frame/protocol.ts';
import { ok, optional, refuse } from './answers.ts';
import { isRefusal, readBody, type Body } from './fields.ts';
import { NETWORKS, predict, type Network, type Wallet } from './market.ts';
import { isClosed, type Portal } from './portal.ts';

export function createToolkit(portal: Portal) {
	function predictProvider(request: SimulatorRequest): SimulatorAnswer {
		const body = readBody(request.body, request.headers['content-type']);
		if (isRefusal(body)) return refuse(body.code, body.message);
		const given = body['phoneNumber'];
		if (given === undefined) {
			return refuse('MISSING_PARAMETER', "Please specify the parameter 'phoneNumber'.");
		}
		const phoneNumber = String(given).replace(/\D/g, '').replace(/^0+/, '');
		const network = predict(phoneNumber);
		if (!network) return refuse('INVALID_PARAMETER', 'The number is not of a supported country.');
		return ok({ country: network.country.code, provider: network.provider, phoneNumber });
	}

	function activeConfiguration(query: URLSearchParams): Body {
		return {
			companyName: 'Airtill Simulated Ltd',
			signatureConfiguration: {
				signedRequestsOnly: portal.signed_requests === 'on',
				signedCallbacks: portal.signed_callbacks === 'on'
			},
			countries: byCountry(query, ([first, ...others]) => ({
				country: first.country.code,
				displayName: { en: first.country.name, fr: first.country.name },
				prefix: first.country.prefix,
				providers: [first, ...others].map((one) => ({
					provider: one.provider,
					displayName: one.name,
					nameDisplayedToCustomer: 'Airtill',
					currencies: one.wallets.map((wallet) => ({
						currency: wallet.currency,
						displayName: wallet.currency,
						operationTypes: operations(query, one, wallet)
					}))
				}))
			}))
		};
	}

	function operations(query: URLSearchParams, one: Network, wallet: Wallet): unknown {
		const wanted = query.get('operationType');
		const shared = {
			minAmount: String(wallet.min),
			maxAmount: String(wallet.max),
			decimalsInAmount: wallet.decimals,
			status: isClosed(portal, one.provider) ? 'CLOSED' : 'OPERATIONAL'
		};
		const address = (url: string) => optional('callbackUrl', url || undefined);
		const prompt = { authType: one.authType, pinPrompt: 'AUTOMATIC', pinPromptRevivable: false };
		const all = Object.entries({
			DEPOSIT: portal.deposits === 'on' && { ...prompt, ...shared, ...address(portal.callback_url) },
			REFUND: portal.refunds === 'on' && { ...shared, ...address(portal.refund_callback_url) }
		}).filter(([name, value]) => value !== false && (wanted === null || wanted === name));
		return portal.operation_types === 'list'
			? all.map(([name, value]) => ({ [name]: value }))
			: Object.fromEntries(all);
	}

	const availability = (query: URLSearchParams) =>
		byCountry(query, (networks) => ({
			country: networks[0].country.code,
			providers: networks.map(({ provider }) => ({
				provider,
				operationTypes: ['DEPOSIT', 'REFUND'].map((operationType) => ({
					operationType,
					status: isClosed(portal, provider) ? 'CLOSED' : 'OPERATIONAL'
				}))
			}))
		}));

	return { predictProvider, activeConfiguration, availability };
}

function byCountry<T>(query: URLSearchParams, make: (networks: [Network, ...Network[]]) => T): T[] {
	const codes = [...new Set(NETWORKS.map(({ country }) => country.code))];
	return codes.flatMap((code) => {
		const [first, ...others] = NETWORKS.filter(({ country }) => country.code === code);
		const isWanted = query.get('country') === null || query.get('country') === code;
		return first && isWanted ? [make([first, ...others])] : [];
	});
}
