/** What the named shapes of the OpenAPI document are, each as a whole. */
export const SHAPE_TEXTS: Readonly<Record<string, string>> = {
	Router: 'A Wi-Fi router that sells time.',
	Brand: 'How the owner of a router looks to buyers.',
	Logo: 'A picture, and how large it is.',
	RouterStatus: 'Whether a router sells time now.',
	AccessKind:
		'What a bought password is. `wpa_personal_per_client`: the password of the Wi-Fi itself. `wpa_enterprise`: with the user name, the sign-in of the Wi-Fi itself (PEAP). `portal_login`: with the user name, the sign-in of the hotspot. `shared_password`: the password of the owner, the same for all.',
	Access: 'How a bought password works, and what a QR code can do.',
	RouterList: 'One page of the routers near a place.',
	Session: 'A purchase of time on a router.',
	SessionStatus:
		'`pending_payment`: ordered, not paid. `activating`: paid, the router is being told, or is waited for. `active`: the time runs. `expired`: the time ran out. `ended`: ended early. `cancelled`: never began.',
	SessionCreation: 'An order of time on a router.',
	Payment: 'A mobile-money payment for a session.',
	PaymentStatus:
		'`pending`: the operator has not decided. `success`: the money was taken. `failed`: no money was taken. `expired`: no answer in time; it can still succeed late. `refund_pending`: the money is on its way back. `refunded`: it is back. `refund_failed`: it could not go back; a person looks at it.',
	PaymentStart: 'The start of a payment.',
	FailureCode: 'Why a payment failed. Further codes may be added.',
	Earnings: 'What the routers of the caller earned, bucket by bucket.',
	EarningsTotal: 'Figures of the whole span.',
	EarningsBucket: 'Figures of one day, week or month.',
	OwnerUser: 'A session as the owner of its router sees it: without password and full number.',
	OwnerUserList: 'One page of the sessions on the routers of the caller.',
	OwnerUserCounts: 'Number of sessions by group.',
	SessionGroup: 'Sessions whose time runs, or is over.',
	PriceUpdate: "A router's new price.",
	WebhookRegistration: 'What is delivered where.',
	WebhookEndpoint: 'An address to which events are delivered.',
	TestEventData: 'Says that nothing has happened.',
	SessionEventData: 'The session at the time of the event, without its password.',
	PaymentEventData: 'The payment at the time of the event.',
	ProblemItem: 'One value that is wrong.'
};
