/**
 * The console of a MikroTik with a hotspot, as far as Airtill uses it (help.mikrotik.com "Scripting", "Fetch", "Scheduler",
 * "HotSpot"; wiki.mikrotik.com Manual:IP/Hotspot/User). It only makes outgoing requests. A script is read as a whole before it
 * runs, and a menu, property, word or escape sequence that is not listed here is an error: also where RouterOS would guess.
 * Stricter than RouterOS: no variables inside quotes, and one operator in each pair of parentheses.
 */
type Value = string | number | boolean | null | Time | Row[] | Script | { readonly data: string };
class Time {
	readonly seconds: number;
	constructor(seconds: number) {
		this.seconds = seconds;
	}
}
type Row = Record<string, string | number | Time>;
type Scope = Map<string, Value>;
type Run = (scope: Scope) => Promise<Value>;
class Script {
	readonly run: () => Promise<void>;
	constructor(run: () => Promise<void>) {
		this.run = run;
	}
}

export class ConsoleError extends Error {}

type Kind = 'text' | 'number' | 'time' | 'switch' | 'word';
/** By menu: the properties that are set (a type), and those that are only read (`-` before it). */
const MENUS: Readonly<Record<string, Readonly<Record<string, Kind | `-${Kind}`>>>> = {
	'ip hotspot': { name: '-text', interface: '-text', profile: '-text' },
	'ip hotspot profile': {
		...{ name: '-text', 'hotspot-address': '-text', 'dns-name': '-text', 'html-directory': '-text' },
		...{ 'login-by': 'word', 'use-radius': 'switch' }
	},
	'ip hotspot user': {
		...{ name: 'text', password: 'text', profile: 'text', comment: 'text', disabled: 'switch' },
		...{ 'limit-uptime': 'time', 'limit-bytes-total': 'number' },
		...{ uptime: '-time', 'bytes-in': '-number', 'bytes-out': '-number' }
	},
	'ip hotspot user profile': {
		...{ name: 'text', 'shared-users': 'number', 'rate-limit': 'text' },
		...{ 'add-mac-cookie': 'switch', 'mac-cookie-timeout': 'time' }
	},
	'ip hotspot active': { user: '-text', 'bytes-in': '-number', 'bytes-out': '-number', uptime: '-time' },
	'ip hotspot cookie': { user: '-text' },
	'ip hotspot walled-garden': { 'dst-host': 'text', action: 'word', comment: 'text' },
	'ip hotspot walled-garden ip': { 'dst-host': 'text', action: 'word', comment: 'text' },
	'ip address': { address: '-text', interface: '-text' },
	'ipv6 firewall raw': { chain: 'word', 'in-interface': 'text', action: 'word', comment: 'text' },
	'system script': { name: 'text', policy: 'word', source: 'text' },
	'system script job': { script: '-text' },
	'system scheduler': {
		...{ name: 'text', interval: 'time', 'start-time': 'word', policy: 'word', 'on-event': 'text' }
	},
	'system resource': { version: '-text' }
};
const FETCH = [
	'url',
	'http-method',
	'http-header-field',
	'http-data',
	'check-certificate',
	'output',
	'dst-path'
];
/** Menus to which rows are added. */
const ADDED = /walled-garden|user|firewall raw|system (script|scheduler)$/;
const NEW_USER: Row = {
	...{ password: '', profile: 'default', disabled: 'no', comment: '', 'limit-uptime': new Time(0) },
	...{ 'limit-bytes-total': 0, uptime: new Time(0), 'bytes-in': 0, 'bytes-out': 0 }
};
/** Of a variable in old versions, and of a line of a script. */
const MAX_DATA = 4_095;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', '"': '"', $: '$', '?': '?', n: '\n' };

const fail = (reason: string): never => {
	throw new ConsoleError(reason);
};

const textOf = (value: Value | undefined): string => {
	if (value instanceof Time) return new Date(value.seconds * 1000).toISOString().slice(11, 19);
	if (typeof value === 'string' || typeof value === 'number') return String(value);
	return fail(`no text: ${JSON.stringify(value)}`);
};

const timeOf = (text: string): Time | null => {
	const [whole, d, h, m, s] = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
	if (!whole) return null;
	return new Time(((Number(d ?? 0) * 24 + Number(h ?? 0)) * 60 + Number(m ?? 0)) * 60 + Number(s ?? 0));
};

export interface RouterOsConsole {
	/** Pastes a line into the terminal. @throws ConsoleError what the terminal prints */
	paste(line: string): Promise<void>;
	/** Runs a script that was fetched. */
	run(script: string): Promise<void>;
	/** The schedulers run once. */
	step(): Promise<void>;
	/** Printed and logged. */
	readonly output: readonly string[];
	/** The last scripts that were fetched. */
	readonly fetched: readonly string[];
	readonly files: ReadonlyMap<string, string>;
	rows(menu: string): Row[];
	user(name: string): Row | undefined;
	profileOf(name: string): Row | undefined;
	isOnline(user: string): boolean;
	/** A device signs in on the login page. */
	signIn(user: string, password: string): 'online' | string;
	/** Time goes on: devices use theirs up. */
	pass(ms: number): void;
	/** A user's device sends and receives that many bytes. */
	use(user: string, bytes: number): void;
	/** Devices are offline; a sudden loss of power may undo the latest changes. */
	reboot(): void;
	/** The next requests to this path are lost: 'before' they arrive, or 'after' the answer. */
	lose(path: RegExp | null, when?: 'before' | 'after'): void;
}

export function createRouterOsConsole(version: '6.49.10 (long-term)' | '7.15.3 (stable)'): RouterOsConsole {
	const isOld = version.startsWith('6');
	const menus = new Map<string, Row[]>(Object.keys(MENUS).map((menu) => [menu, []]));
	const files = new Map<string, string>();
	const output: string[] = [];
	const fetched: string[] = [];
	let lost: { path: RegExp; when: 'before' | 'after' } | null = null;
	const rows = (menu: string): Row[] => menus.get(menu) ?? fail(`bad command name ${menu}`);
	rows('ip hotspot').push({ name: 'hotspot1', interface: 'bridge', profile: 'hsprof1' });
	rows('ip hotspot profile').push({
		...{ name: 'hsprof1', 'hotspot-address': '10.5.50.1', 'dns-name': '', 'html-directory': 'hotspot' }
	});
	rows('ip hotspot user profile').push({ name: 'default', 'shared-users': 1 });
	rows('ip address').push({ address: '10.5.50.1/24', interface: 'bridge' });
	rows('system resource').push({ version });

	/** Reads a script, without running anything. */
	function parse(source: string): (scope: Scope) => Promise<void> {
		let at = 0;
		const peek = () => source[at] ?? '';
		const eat = (text: string) => source.startsWith(text, at) && ((at += text.length), true);
		const need = (text: string) => eat(text) || fail(`expected ${text} (at ${source.slice(at, at + 40)})`);
		const blanks = (pattern = /[ ]*/y) => {
			pattern.lastIndex = at;
			at += pattern.exec(source)?.[0].length ?? 0;
		};
		const match = (pattern: RegExp): string => {
			const sticky = new RegExp(pattern, 'y');
			sticky.lastIndex = at;
			const found = sticky.exec(source)?.[0] ?? '';
			at += found.length;
			return found;
		};

		function block(end: '' | '}'): Run {
			const statements: Run[] = [];
			for (;;) {
				blanks(/[ ;\n]*/y);
				if (end !== '' && eat(end)) break;
				if (at >= source.length) {
					if (end === '') break;
					fail('unbalanced {');
				}
				if (peek() === '#') {
					if (at > 0 && source[at - 1] !== '\n') fail('a comment begins a line');
					match(/[^\n]*/);
				} else statements.push(statement());
				blanks();
				if (at < source.length && !/[;\n}]/.test(peek()))
					fail(`expected end of command (at ${source.slice(at, at + 40)})`);
			}
			return async (outer) => {
				// The scope of the caller is read, and its variables are changed with :set.
				const scope = new Map(outer);
				let value: Value = null;
				for (const run of statements) value = await run(scope);
				for (const name of outer.keys()) if (scope.has(name)) outer.set(name, scope.get(name) ?? null);
				return value;
			};
		}
		const braces = (): Run => (need('{'), block('}'));
		const option = (name: string): Run => (need(`${name}=`), braces());

		function statement(): Run {
			if (peek() === ':') return builtin(false);
			if (peek() === '/') return command('');
			if (eat('{')) return block('}');
			if (peek() !== '$') fail(`bad command name (at ${source.slice(at, at + 40)})`);
			const called = value();
			return async (scope) => {
				const script = await called(scope);
				if (!(script instanceof Script)) return fail('not a function');
				await script.run();
				return null;
			};
		}

		function builtin(isValue: boolean): Run {
			need(':');
			const word = match(/[a-z]+/);
			blanks();
			const arg = (): Run => (blanks(), value());
			if (isValue && !['len', 'pick', 'parse'].includes(word)) fail(`:${word} has no value here`);
			switch (word) {
				case 'len': {
					const of = arg();
					return async (scope) => {
						const found = await of(scope);
						return Array.isArray(found) ? found.length : textOf(found).length;
					};
				}
				case 'pick': {
					const [of, from, to] = [arg(), arg(), arg()];
					return async (scope) =>
						textOf(await of(scope)).slice(Number(await from(scope)), Number(await to(scope)));
				}
				case 'parse': {
					const of = arg();
					return async (scope) => {
						const run = parse(textOf(await of(scope)));
						return new Script(() => run(new Map()));
					};
				}
				case 'local':
				case 'set': {
					const name = match(/[a-z]\w*/) || fail('expected variable name');
					const of = arg();
					return async (scope) => {
						if (word === 'set' && !scope.has(name)) fail(`no variable ${name}`);
						scope.set(name, await of(scope));
						return null;
					};
				}
				case 'if': {
					const condition = arg();
					blanks();
					const then = option('do');
					blanks();
					const otherwise = source.startsWith('else=', at) ? option('else') : null;
					return async (scope) => {
						const isTrue = await condition(scope);
						if (typeof isTrue !== 'boolean') fail('conditional not boolean');
						return isTrue ? then(scope) : (otherwise?.(scope) ?? null);
					};
				}
				case 'while': {
					const condition = arg();
					blanks();
					const body = option('do');
					return async (scope) => {
						while ((await condition(scope)) === true) await body(scope);
						return null;
					};
				}
				case 'foreach': {
					const name = match(/[a-z]\w*/);
					blanks();
					need('in=');
					const of = value();
					blanks();
					const body = option('do');
					return async (scope) => {
						const list = await of(scope);
						if (!Array.isArray(list)) return fail('foreach needs a list');
						for (const row of list) {
							const inner = new Map(scope).set(name, [row]);
							await body(inner);
							for (const key of scope.keys()) if (key !== name) scope.set(key, inner.get(key) ?? null);
						}
						return null;
					};
				}
				case 'do': {
					const body = braces();
					blanks();
					const handler = source.startsWith('on-error=', at) ? option('on-error') : null;
					return async (scope) => {
						try {
							return await body(scope);
						} catch (error) {
							if (!handler || !(error instanceof ConsoleError)) throw error;
							output.push(`(${error.message})`);
							return handler(scope);
						}
					};
				}
				case 'put':
				case 'error':
				case 'log': {
					if (word === 'log' && match(/(info|warning|error) /) === '') fail('log needs a topic');
					const of = arg();
					return async (scope) => {
						const said = textOf(await of(scope));
						if (word === 'error') fail(said);
						output.push(said);
						return null;
					};
				}
				default:
					return fail(`bad command name ${word}`);
			}
		}

		/** @param menu of the command around this one */
		function command(menu: string): Run {
			let path = menu;
			if (eat('/')) {
				path = '';
				for (;;) {
					const word = /[a-z0-9-]+/y;
					word.lastIndex = at;
					const [next = ''] = word.exec(source) ?? [];
					const longer = `${path} ${next}`.trim();
					const isMenu = ['tool', ...Object.keys(MENUS)].some((known) =>
						`${known} `.startsWith(`${longer} `)
					);
					if (next === '' || !isMenu) break;
					path = longer;
					at += next.length;
					blanks();
				}
			}
			if (isOld && path.startsWith('ipv6')) fail('bad command name ipv6');
			const known = MENUS[path];
			const verb = match(/[a-z-]+/);
			if (path === 'tool' && verb !== 'fetch') fail(`bad command name ${verb}`);
			if (path !== 'tool' && !known) fail(`bad command name ${path} ${verb}`);
			const named = new Map<string, { isPattern: boolean; of: Run }>();
			const unnamed: Run[] = [];
			const words: string[] = [];
			for (;;) {
				blanks();
				if (at >= source.length || /[;\n\]})]/.test(peek())) break;
				const [, name, operator] = /^([a-z0-9-]+)([=~])/.exec(source.slice(at, at + 40)) ?? [];
				if (name !== undefined && operator !== undefined) {
					at += name.length + 1;
					if (named.has(name)) fail(`${name} is given twice`);
					if (path === 'tool' ? !FETCH.includes(name) : !(name in (known ?? {})))
						fail(`unknown parameter ${name}`);
					if (operator === '~' && verb !== 'find') fail('~ is for find');
					const isSet = verb === 'add' || verb === 'set';
					if (isSet && known?.[name]?.startsWith('-')) fail(`${name} is read-only`);
					const isWord = peek() !== '"' && peek() !== '$' && peek() !== '(' && peek() !== '[';
					if (isWord) {
						const plain = match(/[A-Za-z0-9.,-]+/) || fail(`no value for ${name}`);
						named.set(name, { isPattern: operator === '~', of: async () => timeOf(plain) ?? plain });
					} else named.set(name, { isPattern: operator === '~', of: value(path) });
				} else if (/[$[]/.test(peek())) unnamed.push(value(path));
				else words.push(match(/[a-z-]+/) || fail(`expected a parameter (at ${source.slice(at, at + 40)})`));
			}
			if (path === 'tool') {
				if (words.join() !== '' && words.join() !== 'as-value') fail(`unknown parameter ${words.join()}`);
				return async (scope) => fetchUrl(await evaluate(named, scope));
			}
			return async (scope) => {
				const list = rows(path);
				const given = await evaluate(named, scope);
				const targets = async (): Promise<Row[]> => {
					const found = unnamed[0] === undefined ? null : await unnamed[0](scope);
					return Array.isArray(found) ? found : fail('no such item');
				};
				switch (verb) {
					case 'find':
						if (words.length + unnamed.length > 0) fail('unknown parameter of find');
						return list.filter((row) =>
							[...named].every(([name, { isPattern }]) => {
								const own = textOf(row[name] ?? '');
								const asked = textOf(given.get(name));
								return isPattern ? new RegExp(asked).test(own) : own === asked;
							})
						);
					case 'get': {
						const [row, ...more] = path === 'system resource' ? list : await targets();
						const [name = ''] = words;
						if (!row || more.length > 0 || !list.includes(row)) return fail('no such item');
						if (words.length !== 1 || !(name in (known ?? {}))) fail(`unknown parameter ${name}`);
						return row[name] ?? '';
					}
					case 'add': {
						if (!ADDED.test(path)) fail(`bad command name add (${path})`);
						const fresh: Row = path === 'ip hotspot user' ? { ...NEW_USER } : {};
						for (const [name, set] of given) fresh[name] = checkValue(path, name, set);
						if (fresh['name'] !== undefined && list.some(({ name }) => name === fresh['name'])) {
							fail(`failure: already have ${path} with this name`);
						}
						list.push(fresh);
						return null;
					}
					case 'set': {
						const all = await targets();
						const values = [...given].map(([name, set]) => [name, checkValue(path, name, set)] as const);
						for (const row of all) for (const [name, set] of values) row[name] = set;
						return null;
					}
					case 'remove': {
						const all = await targets();
						menus.set(
							path,
							list.filter((row) => !all.includes(row))
						);
						// Its devices stay online.
						return null;
					}
					case 'reset-html':
						if (path !== 'ip hotspot') fail('bad command name reset-html');
						await targets();
						files.clear();
						return null;
					default:
						return fail(`bad command name ${verb}`);
				}
			};
		}

		function value(menu = ''): Run {
			if (eat('"')) {
				let text = '';
				while (!eat('"')) {
					if (at >= source.length) fail('unbalanced quotes');
					if (eat('\\')) text += ESCAPES[peek()] ?? fail(`unknown escape \\${peek()}`);
					else if (peek() === '$' || peek() === '?' || peek() === '\n')
						fail(`${JSON.stringify(peek())} is not escaped`);
					else text += peek();
					at += 1;
				}
				return async () => text;
			}
			if (eat('$')) {
				const name = match(/[a-z]\w*/) || fail('expected variable name');
				return async (scope) => (scope.has(name) ? (scope.get(name) ?? null) : fail(`no variable ${name}`));
			}
			if (eat('[')) {
				const run = peek() === ':' ? builtin(true) : command(menu);
				blanks();
				need(']');
				return run;
			}
			if (eat('(')) return operation();
			const plain = match(/[A-Za-z0-9-]+/) || fail(`expected a value (at ${source.slice(at, at + 40)})`);
			return async () => (/^\d+$/.test(plain) ? Number(plain) : (timeOf(plain) ?? plain));
		}

		function operation(): Run {
			blanks();
			const parts = [value()];
			let used = '';
			for (blanks(); !eat(')'); blanks()) {
				const operator = match(/->|and|[.+=<]/) || fail(`expected ) (at ${source.slice(at, at + 40)})`);
				if (used !== '' && used !== operator) fail('put each operator in its own parentheses');
				used = operator;
				blanks();
				parts.push(value());
			}
			return async (scope) => {
				const [first = null, ...others] = await inOrder(parts, scope);
				return others.reduce((left, right) => operate(used, left, right), first);
			};
		}

		if (source.split('\n').some((line) => line.length > MAX_DATA)) fail('a line is too long');
		const run = block('');
		return async (scope) => void (await run(scope));
	}

	const inOrder = async (parts: readonly Run[], scope: Scope) => {
		const values: Value[] = [];
		for (const part of parts) values.push(await part(scope));
		return values;
	};
	const evaluate = async (named: ReadonlyMap<string, { of: Run }>, scope: Scope) => {
		const given = new Map<string, Value>();
		for (const [name, { of }] of named) given.set(name, await of(scope));
		return given;
	};

	function operate(operator: string, left: Value, right: Value): Value {
		switch (operator) {
			case '.':
				return textOf(left) + textOf(right);
			case '=':
				return textOf(left) === textOf(right);
			case 'and':
				return left === true && right === true;
			case '<':
				return Number(left) < Number(right);
			case '->':
				return right === 'data' && left !== null && typeof left === 'object' && 'data' in left
					? left.data
					: fail('no such member');
			default:
				if (left instanceof Time && right instanceof Time) return new Time(left.seconds + right.seconds);
				if (typeof left === 'number' && typeof right === 'number') return left + right;
				return fail(`cannot add ${JSON.stringify(left)} and ${JSON.stringify(right)}`);
		}
	}

	function checkValue(path: string, name: string, given: Value): string | number | Time {
		const kind = MENUS[path]?.[name];
		const wrong = () => fail(`invalid value for argument ${name}: ${JSON.stringify(given)}`);
		if (kind === 'time') return given instanceof Time ? given : wrong();
		if (kind === 'number') return /^\d+$/.test(textOf(given)) ? Number(textOf(given)) : wrong();
		const text = textOf(given);
		if (kind === 'switch' && text !== 'yes' && text !== 'no') wrong();
		if (name === 'rate-limit' && !/^\d+[kM]?\/\d+[kM]?$/.test(text)) wrong();
		if (name === 'action' && !/^(allow|accept|drop)$/.test(text)) wrong();
		if (
			path === 'ip hotspot user' &&
			name === 'profile' &&
			!rows('ip hotspot user profile').some((one) => one['name'] === text)
		) {
			wrong();
		}
		if (name === 'policy' && !['ftp', 'read', 'write', 'test'].every((one) => text.split(',').includes(one)))
			wrong();
		return text;
	}

	async function fetchUrl(given: ReadonlyMap<string, Value>): Promise<Value> {
		const read = (name: string) => (given.has(name) ? textOf(given.get(name)) : '');
		const url = new URL(read('url') || fail('fetch needs a URL'));
		const target = read('output') || 'file';
		// Before 7.19 no authority is known.
		if (read('check-certificate') === 'yes' && url.protocol === 'https:')
			fail('no trusted CA certificate found');
		const headers = read('http-header-field')
			.split(',')
			.filter((one) => one !== '')
			.map((one) => one.split(': ') as [string, string]);
		const isLost = lost?.path.test(url.pathname) ? lost.when : null;
		if (isLost === 'before') fail('connection timed out');
		const method = (read('http-method') || 'get').toUpperCase();
		const body = given.has('http-data') ? { body: read('http-data') } : {};
		const response = await fetch(url, { method, headers, ...body });
		const data = await response.text();
		if (isLost === 'after') fail('connection timed out');
		if (!response.ok) fail(`status ${response.status}`);
		if (target === 'user') {
			if (data.length > MAX_DATA) fail('the answer is too large for a variable');
			fetched.push(data);
			return { data };
		}
		if (target === 'file') files.set(read('dst-path') || fail('fetch needs a file'), data);
		return null;
	}

	const findUser = (name: string) => rows('ip hotspot user').find((row) => row['name'] === name);
	const secondsOf = (row: Row, name: string) => (row[name] instanceof Time ? row[name].seconds : 0);
	const numberOf = (row: Row, name: string) => Number(row[name] ?? 0);
	/** A device leaves: the router adds what it used to its user. */
	function leave(active: Row): void {
		menus.set(
			'ip hotspot active',
			rows('ip hotspot active').filter((row) => row !== active)
		);
		const user = findUser(textOf(active['user']));
		if (!user) return;
		user['uptime'] = new Time(secondsOf(user, 'uptime') + secondsOf(active, 'uptime'));
		for (const name of ['bytes-in', 'bytes-out']) user[name] = numberOf(user, name) + numberOf(active, name);
	}
	const isUsedUp = (user: Row, active: Row): boolean => {
		const limit = secondsOf(user, 'limit-uptime');
		const bytes = numberOf(user, 'limit-bytes-total');
		const sum = (row: Row) => numberOf(row, 'bytes-in') + numberOf(row, 'bytes-out');
		return (
			(limit > 0 && secondsOf(user, 'uptime') + secondsOf(active, 'uptime') >= limit) ||
			(bytes > 0 && sum(user) + sum(active) >= bytes)
		);
	};

	return {
		...{ output, fetched, files, rows, user: findUser },
		async paste(line) {
			if (line.includes('\n')) fail('a line was pasted in parts');
			// The terminal of RouterOS 6 shows its help at once.
			if (/(^|[^\\])\?/.test(line)) fail('"?" asks for help');
			await parse(line)(new Map());
		},
		async run(script) {
			await parse(script)(new Map());
		},
		async step() {
			for (const { 'on-event': event } of rows('system scheduler')) {
				const script = rows('system script').find(({ name }) => name === event);
				if (!script) continue;
				const job: Row = { script: textOf(event) };
				rows('system script job').push(job);
				try {
					await parse(textOf(script['source']))(new Map());
				} finally {
					menus.set(
						'system script job',
						rows('system script job').filter((one) => one !== job)
					);
				}
			}
		},
		profileOf: (name) =>
			rows('ip hotspot user profile').find((row) => row['name'] === findUser(name)?.['profile']),
		isOnline: (name) => rows('ip hotspot active').some((row) => row['user'] === name),
		signIn(name, password) {
			const user = findUser(name);
			if (user?.['password'] !== password || user['disabled'] === 'yes')
				return 'invalid username or password';
			const active: Row = { user: name, uptime: new Time(0), 'bytes-in': 0, 'bytes-out': 0 };
			if (isUsedUp(user, active)) return 'uptime or traffic limit reached';
			const profile = rows('ip hotspot user profile').find((row) => row['name'] === user['profile']);
			const online = rows('ip hotspot active').filter((row) => row['user'] === name).length;
			if (online >= Number(profile?.['shared-users'] ?? 1)) return 'no more sessions are allowed for user';
			rows('ip hotspot active').push(active);
			return 'online';
		},
		pass(ms) {
			for (const active of rows('ip hotspot active')) {
				active['uptime'] = new Time(secondsOf(active, 'uptime') + Math.round(ms / 1000));
				const user = findUser(textOf(active['user']));
				if (user && isUsedUp(user, active)) leave(active);
			}
		},
		use(name, bytes) {
			const active =
				rows('ip hotspot active').find((row) => row['user'] === name) ?? fail(`${name} is offline`);
			active['bytes-out'] = numberOf(active, 'bytes-out') + bytes;
			const user = findUser(name);
			if (user && isUsedUp(user, active)) leave(active);
		},
		reboot() {
			for (const active of rows('ip hotspot active')) leave(active);
		},
		lose(path, when = 'before') {
			lost = path && { path, when };
		}
	};
}
