/**
 * Returns openNDS' BinAuth script, for a router that Airtill cannot call. openNDS calls it before it connects
 * a device and after a disconnect. At level 1 the script asks us and prints the seconds and limits. At level 4 it
 * reports the devices that authmon connects (`ndsctl auth`), because authmon's acknowledgements have no secret.
 * Source: forward_authentication_service/binauth of openNDS 9; src/auth.c (binauth_action) of openNDS 10.
 */
export const binauthScript = (address: string, token: string): string => `#!/bin/sh
# Airtill: asks if a device may be online, and for how long. Without an answer the device stays offline.
# openNDS refuses a device if this prints nothing and succeeds. If it fails, openNDS 9 and 10 let the device in.
ADDRESS='${address}'
TOKEN='${token}'

ask() {
	if command -v curl >/dev/null 2>&1; then
		curl -sf -m 10 -H "Authorization: Bearer $TOKEN" --data "$1" "$ADDRESS"
	else
		# GNU wget repeats a request 20 times, while openNDS waits. OpenWrt's own does not, and has no --header before 24.10.
		case $(wget --version 2>/dev/null) in GNU*) once='-t 1' ;; *) once= ;; esac
		wget -q $once -T 10 -O - --post-data "key=$TOKEN&$1" "$ADDRESS"
	fi
}

case "$1" in
auth_client)
	# $2 MAC address, $5 IP address, $6 token, $7 what the sign-in carried (percent-encoded base64)
	# Prints seconds, kbit/s up and down, and units of 1024 bytes up and down; 0 is no limit.
	version=$(opennds -v 2>/dev/null | sed -n 's/.*version \\([0-9]*\\).*/\\1/p')
	limits=$(ask "method=$1&limits=1&version=$version&mac=$2&ip=$5&token=$6&custom=$7") || exit 0
	case "$limits" in
	'' | *[!0-9' ']*) exit 0 ;;
	esac
	echo "$limits"
	;;
ndsctl_auth)
	# $2 MAC address, $7 token, $8 what the sign-in carried. In the background, because openNDS waits for this script.
	(
		for pause in 0 2 10 30 60 120 300; do
			sleep $pause
			ask "method=$1&mac=$2&token=$7&custom=$8" && break
		done
	) >/dev/null 2>&1 &
	;;
*_deauth)
	# $2 MAC address, $3 bytes to it, $4 bytes from it, $7 token, $8 what the sign-in carried
	ask "method=$1&mac=$2&bytes_in=$3&bytes_out=$4&token=$7&custom=$8" >/dev/null &
	;;
esac
exit 0
`;

/** The command with which a router tries the script: in live mode it sells after the first report. */
export const firstReport = (script: string, level: 1 | 4): string =>
	level === 4
		? `sh ${script} ndsctl_auth 02:00:00:00:00:01 0 0 0 0 00000000 czA=`
		: `sh ${script} auth_client 02:00:00:00:00:01 - - 192.0.2.1 00000000 czA=`;
