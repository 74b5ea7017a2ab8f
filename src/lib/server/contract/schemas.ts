export * from './schemas/offer.ts';
export * from './schemas/owner.ts';
export * from './schemas/payment.ts';
export * from './schemas/problem.ts';
export * from './schemas/router.ts';
export * from './schemas/session.ts';
export * from './schemas/webhook.ts';
