import * as m from '#lib/i18n/messages.js';

export interface Credential {
	label: string;
	text: string;
	copy: string;
}

/** Instructions to get online, for the pass' kind of access. */
export interface SignInInstructions {
	/** The code of the purchase, if it replaces username and password. */
	code: Credential | null;
	user: Credential | null;
	password: Credential | null;
	/** Title of the folded section with username and password; null if they are not folded. */
	folded: string | null;
	/** The Wi-Fi's own password, if it differs from that of the sign-in. */
	wifiPassword: Credential | null;
	steps: string[];
	/** null if a QR code does not help. */
	wifiQr: { svg: string; label: string; hint: string } | null;
	/** About the end of the time; null if it needs no explanation. */
	note: string | null;
}

/** Next step of a device that is not online yet. */
export interface GoOnline {
	/** The gateway refused the sign-in. */
	isBad?: boolean;
	title?: string;
	texts: string[];
	/** Target of the link and of the automatic navigation. */
	address: string;
	link?: { text: string; quiet?: boolean };
	automaticSeconds?: number;
	/** Offers to move the pass to this device. */
	moves?: boolean;
	/** Seconds until a page without script reloads while the gateway connects the device. */
	refreshSeconds?: number;
}

const PROBLEMS: Readonly<Record<string, () => string>> = {
	'wrong-password': m.splash_problem_wrong_password,
	'time-over': m.splash_problem_time_over,
	'too-many-devices': m.splash_problem_too_many_devices,
	'not-ready': m.splash_problem_not_ready
};

/** Explains why a gateway refused a sign-in. An unknown reason gets a sentence that is always true. */
export const formatGatewayProblem = (problem: string | null): string =>
	(PROBLEMS[problem ?? ''] ?? m.splash_problem_unknown)();
