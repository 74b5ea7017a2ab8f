import { describe, expect, it } from 'vitest';
import { CODE_BYTES, codeOfBytes, codeText, readCode } from '#lib/domain/codes.ts';
import { readTyped } from '#lib/server/portal/resume.ts';
import { computeWarnSeconds } from '#lib/purchase/state.ts';

describe('a short code', () => {
	it.each([
		[[0, 0, 0, 0, 0], '0000-0000'],
		[[255, 255, 255, 255, 255], 'ZZZZ-ZZZZ'],
		[[0, 0, 0, 0, 1], '0000-0001'],
		[[0x08, 0x42, 0x10, 0x84, 0x21], '1111-1111']
	])('of the bytes %j is %s', (bytes, code) => {
		expect(bytes).toHaveLength(CODE_BYTES);
		expect(codeText(codeOfBytes(Uint8Array.from(bytes)))).toBe(code);
	});

	it.each([
		...['K7MQ-29XT', 'k7mq-29xt', ' K7MQ 29XT ', 'K7MQ29XT', 'K7MQ–29XT', 'K7MQ\u2060-\u206029XT'],
		...['K7MQ\u2011٢٩XT', 'k7mq ۲۹xt', 'Ｋ７ＭＱ２９ＸＴ', '"K7MQ-29XT".']
	])('is read from %s', (typed) => {
		expect(readCode(typed)).toBe('K7MQ29XT');
	});

	it('is read from look-alikes', () => {
		expect(readCode('oOiI-lLuU')).toBe('001111VV');
	});

	it.each(['', 'K7MQ-29X', 'K7MQ-29XTT', 'K7MQ-29X?', 'K7MQ-29XÄ', '1'.repeat(65), 'ልልልልልልልል'])(
		'is not read from %s',
		(typed) => {
			expect(readCode(typed)).toBeNull();
		}
	);
});

it('a pass warns ten minutes before its end; a short one later, but with time to pay', () => {
	const minutes = (total: number) => computeWarnSeconds(total * 60) / 60;
	expect([15, 30, 60, 100, 120, 7 * 24 * 60].map(minutes)).toEqual([2, 3, 6, 10, 10, 10]);
});

/** The message of a purchase, as a phone gets it (writeSms in portal/purchase-page.ts). */
const SMS =
	'KISEMENTI-WIFI\nPassword for KISEMENTI-WIFI: jtza-8htb-b9bm\nYour code: K7MQ-29XT\nairtill.example/resume';

describe('the code of a voucher', () => {
	it.each(['K7MQ-29XT-4HWB', 'k7mq29xt4hwb', 'K7MQ 29XT 4HWB', ' k7mq–29xt–4hwb ', 'K7MQ 29XT-4HWB'])(
		'is read: %s',
		(typed) => {
			expect(readTyped(typed, false)).toMatchObject({ code: null, voucher: 'K7MQ29XT4HWB' });
		}
	);

	it.each(['CODE-29XT-4HWB', 'CODE 29XT 4HWB', 'code29xt4hwb', 'CODE - 29XT - 4HWB'])(
		'is read though it begins with a word: %s',
		(typed) => {
			expect(readTyped(typed, false)).toMatchObject({ code: null, voucher: 'C0DE29XT4HWB' });
		}
	);

	it.each([
		'Your voucher: K7MQ-29XT-4HWB, valid today',
		'https://airtill.example/redeem?code=K7MQ-29XT-4HWB'
	])('is found in a pasted text: %s', (text) => {
		expect(readTyped(text, false)).toMatchObject({ code: null, voucher: 'K7MQ29XT4HWB' });
	});

	it('may be the transaction ID of an operator as well', () => {
		expect(readTyped('123456789012', false)).toMatchObject({
			...{ voucher: '123456789012', transaction: '123456789012' }
		});
	});
});

describe('a pasted text', () => {
	it.each([
		SMS,
		SMS.replaceAll('KISEMENTI-WIFI', 'Cafe-WiFi'),
		SMS.replaceAll('KISEMENTI-WIFI', 'HOTELWIFI2'),
		SMS.replaceAll('KISEMENTI-WIFI', 'TRANSIT-5G'),
		SMS.replaceAll('jtza-8htb', 'tx7a-8htb'),
		'My code is K7MQ - 29XT, it does not work',
		'ID: K7MQ-29XT',
		'Ref K7MQ-29XT',
		// With these words it has the twelve characters of a voucher.
		...['Code K7MQ-29XT', 'Code: K7MQ-29XT.', 'code: k7mq29xt', 'Kode\nK7MQ-29XT', 'It is K7MQ-29XT'],
		'K7MQ\u2060-\u206029XT'
	])('gives the code: %s', (text) => {
		expect(readTyped(text, false).code).toBe('K7MQ29XT');
	});

	it.each([
		[
			'QGR7XK2L5M Confirmed. Ksh500.00 sent to AIRTILL for account 9001 on 21/11/26 at 12:16 PM.',
			'QGR7XK2L5M'
		],
		[
			'You have paid UGX 500 to AIRTILL 256772000000. Fee UGX 0. Financial Transaction Id: 21983746512. External Transaction Id: 9001.',
			'21983746512'
		],
		['PAID. TID 98765432101. UGX 500 to AIRTILL. Bal UGX 1,200. Date 21-Nov-2026 12:16', '98765432101'],
		[
			'Paiement de 500 FCFA effectué. ID de la transaction : MP261121.1216.A12345. Solde 1200',
			'MP261121.1216.A12345'
		],
		['You have paid UGX 1,000 to BLUE CAFE - WIFI today. Transaction ID: 29387498. Fee 0', '29387498'],
		['You have paid for Order. Reference: 9001. Transaction ID: 66778899001. Thank you', '66778899001'],
		['Paid UGX 500 to Merchant ID 445566. Transaction ID 21987654321 on 28 Nov', '21987654321'],
		['Vous avez payé 500 F. Numéro de transaction : 21987654321. Merci', '21987654321'],
		['Paiement reçu, merci. Référence : PP261128.1216.A1', 'PP261128.1216.A1'],
		['تم الدفع 500. رقم العملية: ٢١٩٨٧٦٥٤٣٢١ شكرا لك', '21987654321'],
		['You have transferred 500 UGX to BLUE CAFE. Transaction ID: 123456789. Fee 0', '123456789'],
		['Vous avez transfere 1000 FCFA a BLUE CAFE. ID: 987654321. Solde 20', '987654321'],
		['Transfert 500 FCFA a BLUE CAFE, Ref: PP261128.1216.A1 Merci', 'PP261128.1216.A1'],
		['Transferred UGX5,000 to BLUE CAFE, TxnId 29387498 today', '29387498'],
		['Transaction 12:16 done. Trans ID 4455667788, thank you', '4455667788'],
		['TXN20481234', 'TXN20481234'],
		['Transaction ID: 1029384756', '1029384756'],
		['1029384756', '1029384756'],
		['12345678', '12345678']
	])('of an operator gives its transaction ID: %s', (text, transaction) => {
		expect(readTyped(text, false).transaction).toBe(transaction);
	});

	it.each(['', 'hello', 'K7MQ-29X', 'K7MQ-29XTT', 'I paid yesterday but there is no Wi-Fi'])(
		'without either gives none: %s',
		(text) => {
			expect(readTyped(text, false)).toEqual({ code: null, voucher: null, transaction: null });
		}
	);

	it('beside the number that paid is the transaction ID, in groups too', () => {
		expect(readTyped('ABC 12 34', true).transaction).toBe('ABC 12 34');
	});
});

it('answers at once about a long text, which anybody may send', () => {
	const started = performance.now();
	readTyped(`id${'.'.repeat(333)}${'1'.repeat(662)}-`, false);
	readTyped(`Ref${'1.'.repeat(498)}-`, false);
	expect(performance.now() - started).toBeLessThan(500);
});
