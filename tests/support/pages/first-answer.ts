/** The first answer to a browser, as it goes over the wire. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const limitMs = 60_000;

interface FirstAnswer {
	/** Headers and body as they were sent. */
	bytes: number;
	status: number;
	/** The page, unpacked. */
	html: string;
}

/**
 * Asks as a browser asks that takes compressed pages, on a socket of its own.
 *
 * @param encodings what it takes: browsers name Brotli over https alone, and to a server on their own machine
 */
export async function firstAnswer(
	url: string,
	language = 'en',
	encodings = 'gzip, deflate, br'
): Promise<FirstAnswer> {
	const { hostname, port, pathname, search } = new URL(url);
	const socket = connect(Number(port), hostname);
	socket.setTimeout(limitMs, () => socket.destroy(new Error(`No answer from ${url}`)));
	socket.write(
		[
			`GET ${pathname}${search} HTTP/1.1`,
			`Host: ${hostname}:${port}`,
			'Connection: close',
			'Accept: text/html',
			`Accept-Encoding: ${encodings}`,
			`Accept-Language: ${language}`,
			'',
			''
		].join('\r\n')
	);
	const chunks: Buffer[] = [];
	socket.on('data', (chunk) => chunks.push(chunk));
	await once(socket, 'end');
	const all = Buffer.concat(chunks);
	const bodyAt = all.indexOf('\r\n\r\n') + 4;
	const head = all.subarray(0, bodyAt).toString('latin1');
	const body = all.subarray(bodyAt);
	return {
		bytes: all.length,
		status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
		html: unpacked(head, body).toString('utf8')
	};
}

function unpacked(head: string, body: Buffer): Buffer {
	const [, coding] = /^content-encoding: (\w+)/im.exec(head) ?? [];
	if (coding === 'br') return brotliDecompressSync(body);
	return coding === 'gzip' ? gunzipSync(body) : body;
}
