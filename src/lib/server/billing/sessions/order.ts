import { durationSeconds, formatDuration, MAX_DURATION, MIN_DURATION } from '#lib/domain/duration.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import type { SessionCreationBody } from '#lib/server/api/contract/schemas.ts';
import type { Config } from '#lib/server/config/config.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { sells, type RouterRow } from '#lib/server/routers/routers.ts';

/** Checks an order; reports the first problem. Returns the payer's number in E.164. @throws AppError */
export function checkOrder(
	order: SessionCreationBody,
	router: RouterRow,
	paymentMethods: string[],
	config: Pick<Config, 'mode' | 'defaultRegion'>
): string {
	if (!sells(router, config)) {
		throw new AppError('router_unavailable', 'The router is offline and cannot be sold now.');
	}
	const seconds = durationSeconds(order.duration);
	const least = Math.max(durationSeconds(router.min_duration), durationSeconds(MIN_DURATION));
	const most = Math.min(durationSeconds(router.max_duration), durationSeconds(MAX_DURATION));
	if (seconds < least || seconds > most) {
		throw new AppError(
			'duration_not_allowed',
			`This router sells from ${formatDuration(router.min_duration, 'en')} to ${formatDuration(router.max_duration, 'en')}.`,
			{ extensions: { min_duration: router.min_duration, max_duration: router.max_duration } }
		);
	}
	if (!paymentMethods.includes(order.payment_method)) {
		throw new AppError('payment_method_not_supported', `The router accepts ${paymentMethods.join(', ')}.`, {
			extensions: { payment_methods: paymentMethods }
		});
	}
	return mobileNumber(order.phone, config.defaultRegion);
}

/** @throws AppError `invalid_phone` */
export function mobileNumber(text: string, region: string): string {
	const phone = parseMobile(text, region);
	if (phone === null) {
		throw new AppError('invalid_phone', 'Use a mobile number with its country code, e.g. "+256772123456".');
	}
	return phone;
}
