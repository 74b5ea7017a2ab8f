/** What operators send: one reader for callbacks and responses, whatever stands around the content or writes it. */
import { describe, expect, it } from 'vitest';
import { parseObject, parseJson, readText } from '#lib/server/billing/operators/client.ts';

const content = { Body: { stkCallback: { ResultCode: 0, ResultDesc: 'Paid {in} "full" & more = ok + [1' } } };
const json = JSON.stringify(content);
const form = encodeURIComponent(json);

it.each([
	['as it should be', json],
	['with blanks and line ends', ` \r\n${JSON.stringify(content, null, 2)}\n\n`],
	['after a byte order mark', `\ufeff${json}`],
	['after two byte order marks', `\ufeff\ufeff${json}`],
	['after a byte order mark that was read as Latin-1', `ï»¿${json}`],
	['before NUL', `${json}\0\0`],
	['before other bytes', `${json}\u001a garbage`],
	['before a second copy', json + json],
	['after a guard against scripts', `)]}',\n${json}`],
	['in a call', `callback(${json});`],
	['in a list', `[${json}]`],
	['in a text', JSON.stringify(json)],
	['in a field of a form', `payload=${form}&sent=1`],
	['as the name of a field of a form', `${form}=`],
	['as the name of a field of a form, without its sign', form],
	['in a field that is not encoded', `payload=${json}`],
	['in a part of a form', `--b\r\ncontent-disposition: form-data; name="p"\r\n\r\n${json}\r\n--b--`]
])('an object is read %s', (_how, text) => {
	expect(parseObject(text)).toMatchObject(content);
});

it('line ends inside a text count as blanks', () => {
	expect(parseObject('{"status":"SUCCESSFUL\n","reason":"a\tb"}')).toEqual({
		status: 'SUCCESSFUL ',
		reason: 'a b'
	});
});

it('the fields of a form are an object, with objects among them', () => {
	const transaction = { id: 'x', status_code: 'TS' };
	expect(parseObject('status=SUCCESSFUL&amount=500&externalId=a+b')).toEqual({
		...{ status: 'SUCCESSFUL', amount: 500, externalId: 'a b' }
	});
	const text = `transaction=${encodeURIComponent(JSON.stringify(transaction))}&hash=abc%3D`;
	expect(parseObject(text)).toMatchObject({ transaction, hash: 'abc=' });
});

it.each([
	['nothing', ''],
	['a page', '<html><script>{"status":"FAILED"}</script></html>'],
	['a page after a byte order mark', '\ufeff <!doctype html>{"status":"FAILED"}'],
	['a sentence', 'no Route matched with those values'],
	['an object that was cut', '{"status":"SUCCESSFUL","amount":"1'],
	['brackets without end', '{['.repeat(30_000)],
	['quotes without end', `{"${'\\"'.repeat(30_000)}`],
	['a number', '7'],
	['several objects in a list', '[{"status":"FAILED"},{"status":"SUCCESSFUL"}]']
])('%s is no object', (_what, text) => {
	const started = performance.now();
	expect(parseObject(text)).toBeNull();
	expect(performance.now() - started).toBeLessThan(2_000);
});

describe('a member', () => {
	it.each([
		['23503452', '23503452'],
		['9007199254740993', '9007199254740993'],
		['18446744073709551615', '18446744073709551615'],
		['-9223372036854775807', '-9223372036854775807'],
		['1.50', '1.5'],
		['"9007199254740993"', '9007199254740993'],
		['" NLJ7RT61SV\\r\\n"', 'NLJ7RT61SV'],
		['"\\ufeffTS\\u0000"', 'TS'],
		['""', null],
		['" "', null],
		['null', null],
		['true', null],
		['{}', null]
	])('%s is the text %j', (value, text) => {
		expect(readText(parseJson(`{"id":${value}}`), 'id')).toBe(text);
	});
});
