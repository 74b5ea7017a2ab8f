import process from 'node:process';

export interface Mail {
	to: string;
	subject: string;
	/** Plain text with lines of at most about 78 characters (RFC 5322, 2.1.1). */
	text: string;
}

export interface Mailer {
	/** Why no mail can be sent, as a sentence for the administrator; null if mail works. */
	readonly problem: string | null;
	/** @throws Error of the mail server, or with `problem` */
	send(mail: Mail): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

interface MailSettings {
	mode: 'sandbox' | 'live';
	smtp: { url: string; from: string } | null;
}

/** Uses SMTP. A sandbox without a mail server prints mails, so that their links can be opened. */
export function createMailer({ mode, smtp }: MailSettings): Mailer {
	if (smtp) return smtpMailer(smtp);
	if (mode === 'sandbox') return { problem: null, send: async (mail) => print(mail) };
	const problem = 'No mail server is configured. Set SMTP_URL and MAIL_FROM.';
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
			// Imported late: most processes never send mail.
			const { createTransport } = await import('nodemailer');
			const transport = createTransport({
				url,
				connectionTimeout: CONNECT_TIMEOUT_MS,
				greetingTimeout: CONNECT_TIMEOUT_MS,
				socketTimeout: CONNECT_TIMEOUT_MS,
				disableFileAccess: true,
				disableUrlAccess: true
			});
			try {
				// A plain address could contain several recipients, so pass an object.
				await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
			} finally {
				transport.close();
			}
		}
	};
}

/** Prints to standard output, because the log would redact the link. */
function print({ to, subject, text }: Mail): void {
	const rule = '-'.repeat(72);
	process.stdout.write(
		`${rule}\nEmail (not sent: test mode)\nTo: ${to}\nSubject: ${subject}\n\n${text}\n${rule}\n`
	);
}
