import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { type PaymentRow, describePayment } from '#lib/server/billing/payments.ts';

const reads = 5_000;
/** Far below what one object for each read would take. */
const allowedBytes = 1_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const usedBytes = () => {
	collectGarbage();
	return process.memoryUsage().heapUsed;
};

it('reading a payment leaves nothing in memory', () => {
	const row = { failure_code: 'payer_rejected', currency: 'UGX', amount_minor: 1000 } as PaymentRow;
	const read = () => {
		for (let count = 0; count < reads; count += 1) {
			describePayment({
				...row,
				expires_at: 1,
				created_at: 1,
				updated_at: 1,
				paid_at: null,
				refunded_at: null
			});
		}
	};
	read();
	const before = usedBytes();
	read();
	expect(usedBytes() - before).toBeLessThan(allowedBytes);
});
