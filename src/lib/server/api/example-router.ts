import { type CountryCode, getExampleNumber } from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';
import { quote } from '#lib/purchase/quote.ts';
import type { App } from '#lib/server/app.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { listNearbyRouters } from '../routers/routers.ts';

/** The example purchase of the quickstart and of the API page: its place, radius in metres and time. */
const RADIUS = 5_000;
const DURATION = '2h';
const ROUTERS = 20;

/** A router near the centre of the map that sells the time of the example now, and what it costs there. */
async function findExampleRouter({ routers, config }: App) {
	const near = await listNearbyRouters(routers, {
		...config.centre,
		radius: RADIUS,
		limit: ROUTERS,
		after: null
	});
	for (const router of near.data) {
		const amount = router.status === 'online' ? quote(router, DURATION)?.amount : undefined;
		if (amount !== undefined) return { router, amount };
	}
	return null;
}

/** Replaces the router, place and prices of the quickstart with those of this installation, if a router sells now. */
export async function withRealRouter(text: string, app: App): Promise<string> {
	const found = await findExampleRouter(app);
	return found ? replaced(text, found.router, { amount: found.amount, ...app.config.centre }) : text;
}

/** What the forms of the API page hold at first, so that a call of each works here as it is shown. */
export async function apiDefaults(app: App) {
	const { config } = app;
	const found = await findExampleRouter(app);
	const example = getExampleNumber(config.defaultRegion as CountryCode, examples);
	return {
		isSandbox: config.mode === 'sandbox',
		...config.centre,
		radius: RADIUS,
		duration: DURATION,
		/** A number that pays (billing/operators/sandbox.ts); the page varies its last digits but three. */
		phone: `${example?.number.slice(0, -3) ?? ''}456`,
		router: found && {
			id: found.router.id,
			price: found.router.price,
			amount: found.amount,
			hourly: found.router.hourly,
			offers: found.router.offers.map(({ name, duration, price }) => ({ name, duration, price }))
		}
	};
}

function replaced(
	text: string,
	{ id, name, ssid, price, currency }: RouterBody,
	{ amount, lat, lon }: { amount: number; lat: number; lon: number }
): string {
	const values: Readonly<Record<string, unknown>> = {
		...{ '"id": 42': id, '"router_id": 42': id, '"name": "Kisementi Cafe"': name },
		...{ '"price": 500': price, '"amount": 1000': amount, '"currency": "UGX"': currency },
		'"ssid": "Kisementi-WiFi"': ssid
	};
	return text
		.replaceAll('lat=0.3476&lon=32.5825', `lat=${lat}&lon=${lon}`)
		.replace(/("\w+": )(?:\d+|"[^"]+")/g, (member, field: string) =>
			member in values ? field + JSON.stringify(values[member]) : member
		);
}
