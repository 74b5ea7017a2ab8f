/**
 * Uses the npm package `mtn-momo` as a shop would, against the given address. Prints the package's answers as one
 * line of JSON.
 *
 * `node client.js BASE_URL COLLECTION_KEY DISBURSEMENT_KEY CALLBACK_URL`
 */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import momo from 'mtn-momo';

const [baseUrl, primaryKey, disbursementKey, callbackUrl] = process.argv.slice(2);
const callbackHost = new URL(callbackUrl).hostname;
const { Users, Collections, Disbursements } = momo.create({ callbackHost, baseUrl });

const users = Users({ primaryKey });
const userId = await users.create(callbackHost);
const { apiKey: userSecret } = await users.login(userId);
const payouts = Users({ primaryKey: disbursementKey });
const payoutsUserId = await payouts.create(callbackHost);
const { apiKey: payoutsUserSecret } = await payouts.login(payoutsUserId);
const collections = Collections({ primaryKey, userId, userSecret });

const order = (changes) => ({
	amount: '50',
	currency: 'EUR',
	externalId: '123456',
	payer: { partyIdType: 'MSISDN', partyId: '256774290781' },
	payerMessage: 'testing',
	payeeNote: 'hello',
	...changes
});
const payer = (partyId) => ({ payer: { partyIdType: 'MSISDN', partyId } });
const failureOf = (promise) =>
	promise.then(
		() => null,
		({ name, message, transaction }) => ({ name, message, transaction })
	);

async function settled(reference) {
	for (let read = 0; read < 100; read += 1) {
		const transaction = await collections.getTransaction(reference);
		if (transaction.status !== 'PENDING') return transaction;
		await sleep(100);
	}
	throw new Error('still pending');
}

const reference = await collections.requestToPay(order({ callbackUrl }));
const first = await collections.getTransaction(reference);
const paid = await settled(reference);
const rejected = await collections.requestToPay(order(payer('46733123451')));

console.log(
	JSON.stringify({
		userId,
		reference,
		first,
		paid,
		rejected: await failureOf(settled(rejected)),
		wrongCurrency: await failureOf(collections.requestToPay(order({ currency: 'UGX' }))),
		foreignCallback: await failureOf(
			collections.requestToPay(order({ callbackUrl: 'http://elsewhere.example/' }))
		),
		unknown: await failureOf(collections.getTransaction('ffffffff-ffff-4fff-bfff-ffffffffffff')),
		wrongKey: await failureOf(Collections({ primaryKey: 'x', userId, userSecret }).getBalance()),
		active: await collections.isPayerActive('256774290781'),
		inactive: await collections.isPayerActive('46733123451'),
		balance: await collections.getBalance(),
		disbursementBalance: await Disbursements({
			primaryKey: disbursementKey,
			userId: payoutsUserId,
			userSecret: payoutsUserSecret
		}).getBalance()
	})
);
