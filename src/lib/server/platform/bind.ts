/** Binds functions of a service to its context: `bind(remove)(gateway)` calls `remove(context, gateway)`. */
export const binder =
	<C>(context: C) =>
	<A extends unknown[], R>(work: (context: C, ...args: A) => R) =>
	(...args: A): R =>
		work(context, ...args);
