import type { QrCode } from '../format/qr.ts';

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
	qr: { code: QrCode; label: string; hint: string } | null;
	/** About the end of the time; null if it needs no explanation. */
	note: string | null;
}

/** Next step of a device that is not online yet. */
export interface GoOnline {
	tone: 'plain' | 'bad';
	title: string | null;
	texts: string[];
	/** Target of the link and of the automatic navigation. */
	address: string;
	link: { text: string; quiet: boolean } | null;
	automaticSeconds: number | null;
	/** Address of the page without automatic navigation. */
	stay: string | null;
	/** Label of the button that moves the pass to this device. */
	move: string | null;
	/** Seconds until a page without script reloads while the gateway connects the device. */
	refreshSeconds: number | null;
}
