import process from 'node:process';
import type { Config } from '../config/config.ts';

export interface Mail {
	to: string;
	subject: string;
	/** Plain text, lines of at most 78 characters or so. */
	text: string;
}

export interface Mailer {
	/** Why no mail can leave, as a sentence for whoever runs the installation; null when mails can be sent. */
	readonly problem: string | null;
	/** @throws Error of the mail server, or when `problem` says that nothing can be sent */
	send(mail: Mail): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Mails by SMTP; a sandbox without a mail server prints them, so that their links can be followed. */
export function createMailer({ mode, smtp }: Pick<Config, 'mode' | 'smtp'>): Mailer {
	if (smtp) return smtpMailer(smtp);
	if (mode === 'sandbox') return { problem: null, send: async (mail) => print(mail) };
	const problem = 'No mail server is configured (SMTP_URL and MAIL_FROM).';
	return {
		problem,
		async send() {
			throw new Error(problem);
		}
	};
}

function smtpMailer({ url, from }: { url: string; from: string }): Mailer {
	return {
		problem: null,
		async send({ to, subject, text }) {
			// Loaded with the first mail: most processes never send one.
			const { createTransport } = await import('nodemailer');
			const transport = createTransport({
				url,
				connectionTimeout: CONNECT_TIMEOUT_MS,
				greetingTimeout: CONNECT_TIMEOUT_MS,
				socketTimeout: CONNECT_TIMEOUT_MS,
				// A mail never makes this machine read a file or call another address.
				disableFileAccess: true,
				disableUrlAccess: true
			});
			try {
				// An object, because an address in a header line could name several recipients.
				await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
			} finally {
				transport.close();
			}
		}
	};
}

/** On standard output beside the log, whose redaction would take the link away. */
function print({ to, subject, text }: Mail): void {
	const rule = '-'.repeat(72);
	process.stdout.write(
		`${rule}\nE-mail (not sent: test mode)\nTo: ${to}\nSubject: ${subject}\n\n${text}\n${rule}\n`
	);
}
