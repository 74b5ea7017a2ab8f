/** A mail server that stores messages, or refuses them on request. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

export interface MailServer {
	readonly port: number;
	/** Texts of the mails that came, oldest first, as the person sees them. */
	mails(): readonly string[];
	/** From now on a mail is refused with a sentence that quotes its text, as filters do. */
	refuse(): void;
	stop(): Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
	const mails: string[] = [];
	let refuses = false;
	const server = createServer((socket) => {
		let pending = '';
		let isData = false;
		const say = (line: string) => socket.write(`${line}\r\n`);
		const take = (text: string) => {
			// Quoted-printable breaks long lines and writes "=" as "=3D".
			const mail = text.replaceAll('=\r\n', '').replaceAll('=3D', '=');
			mails.push(mail);
			say(refuses ? `554 5.7.1 refused: ${/https?:\S+/.exec(mail)?.[0] ?? ''}` : '250 taken');
		};
		socket.on('error', () => {});
		socket.on('data', (chunk) => {
			pending += chunk.toString('utf8');
			for (;;) {
				const end = isData ? '\r\n.\r\n' : '\r\n';
				const at = pending.indexOf(end);
				if (at === -1) return;
				const text = pending.slice(0, at);
				pending = pending.slice(at + end.length);
				if (isData) {
					isData = false;
					take(text);
				} else if (/^EHLO/i.test(text)) {
					socket.write('250-mail.invalid\r\n250 AUTH PLAIN\r\n');
				} else if (/^AUTH/i.test(text)) say('235 welcome');
				else if (/^DATA/i.test(text)) {
					isData = true;
					say('354 go on');
				} else if (/^QUIT/i.test(text)) {
					say('221 bye');
					socket.end();
				} else say('250 ok');
			}
		});
		say('220 mail.invalid');
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		mails: () => mails,
		refuse: () => (refuses = true),
		async stop() {
			server.close();
			await once(server, 'close');
		}
	};
}
