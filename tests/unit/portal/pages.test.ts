import { expect, test } from 'vitest';
import { readTexts } from '#lib/server/portal/pages.ts';

test('fields of a form that are missing, doubled, files or endless do no harm', async () => {
	const body = new FormData();
	body.append('time', ' 1h 500 ');
	body.append('time', 'own');
	body.append('phone', new File(['x'], 'x.txt'));
	body.append('paymentMethod', 'm'.repeat(10_000));
	const request = new Request('http://localhost', { method: 'POST', body });
	expect(await readTexts(request, ['time', 'phone', 'paymentMethod', 'purchase'])).toEqual({
		...{ time: '1h 500', phone: '', purchase: '' },
		paymentMethod: 'm'.repeat(1_000)
	});
});
