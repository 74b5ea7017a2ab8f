/** Types of the API, generated from contract/openapi.json by "npm run openapi": not for editing. */

export interface paths {
    "/routers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the routers near a location
         * @description Routers within `radius` metres of a place (great-circle distance), the nearest first. Offline routers are listed, disabled ones are not. A value out of range is refused, never clamped.
         *
         *     Needs an API key with the scope `routers:read`.
         */
        get: operations["listRouters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/routers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one router
         * @description One router. A disabled router is not found, except by the account that owns it.
         *
         *     Needs an API key with the scope `routers:read`.
         */
        get: operations["getRouter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Order access time on a router; charges nothing
         * @description Orders time on a router at its price of now. **Charges nothing**: start a payment for the returned `amount` before `payment_due_at` (30 minutes by default). With `extends_session_id` the time is added to a running pass: never over what is left of it, and two such orders add up. Send an `Idempotency-Key` so that a request that is repeated after a lost answer orders once.
         *
         *     Needs an API key with the scope `sessions:write`.
         */
        post: operations["createSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session and, while it is active, its Wi-Fi password
         * @description The session as it is at this moment. While it is `active`, the account that created it reads the Wi-Fi password here. Sessions of other accounts are not found.
         *
         *     Needs an API key with the scope `sessions:read`.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        /**
         * End an active session, or cancel one that is not paid
         * @description An `active` session ends: its password stops working, nothing is refunded, and added time that follows it in its pass ends with it. A session in `pending_payment` is cancelled. In any other state the request is refused and names the state, so that a client that repeats it sees that the first one worked. A body is ignored.
         *
         *     Needs an API key with the scope `sessions:write`.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/mobile-money": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a mobile-money payment for a session
         * @description Asks the payer for the amount of a session; the prompt appears on the phone. The answer is always a `pending` payment: what the operator says shows in the status of the payment. One payment of a session is pending at a time. Send an `Idempotency-Key`.
         *
         *     Needs an API key with the scope `payments:write`.
         */
        post: operations["startMobileMoneyPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the status of a payment, at once or as soon as it changes
         * @description The payment as it is now. Ask at most every three seconds, or let `wait` hold the answer until the payment leaves `pending`.
         *
         *     Needs an API key with the scope `payments:read`.
         */
        get: operations["getPaymentStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/owner/earnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sum up what the caller's routers earned
         * @description What the routers of the caller earned by day, ISO week (from Monday) or month, in the time zone of the installation. Sales count when they were paid, refunds when they were given back. Without `from` and `to`: the last 30 days, 12 weeks or 12 months up to today. At most 366 buckets.
         *
         *     Needs an API key with the scope `owner:read`, of role `owner`.
         */
        get: operations["getEarnings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/owner/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List active and expired sessions on the caller's routers
         * @description Sessions on the routers of the caller whose time runs or is over, the latest start first. Numbers are masked, passwords never shown.
         *
         *     Needs an API key with the scope `owner:read`, of role `owner`.
         */
        get: operations["listOwnerUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/owner/routers/{id}/price": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a router's hourly price for new sessions
         * @description Sets the price of one hour. It applies at once and only to new sessions; every change is kept with its time and author.
         *
         *     Needs an API key with the scope `owner:write`, of role `owner`.
         */
        put: operations["setRouterPrice"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a webhook URL for the listed events
         * @description Registers an address to which events are delivered, signed after Standard Webhooks. The address is not contacted now. The secret of the endpoint is shown once, in the answer 201. Registering the same address again replaces its events, enables it again and answers 200 without the secret.
         *
         *     Needs an API key with the scope `webhooks:write`.
         */
        post: operations["registerWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "payment.success": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * payment.success
         * @description A payment succeeded. `data.applied` says whether it bought the time; one that did not goes back.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onPaymentSuccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * session.expired
         * @description The time of a session ran out; exactly once for a session. Not for one that was ended early.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onSessionExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * payment.failed
         * @description A payment failed, or the payer did not answer.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onPaymentFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.refunded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * payment.refunded
         * @description The money of a payment was given back.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onPaymentRefunded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * session.created
         * @description A session was ordered.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onSessionCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.activated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * session.activated
         * @description The time of a session began to run.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onSessionActivated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * session.ended
         * @description A session was ended early.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onSessionEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * session.cancelled
         * @description A session was cancelled before it began.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onSessionCancelled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * webhook.test
         * @description Sent on demand from the developer settings, to one endpoint, whatever it was registered for.
         *
         *     Signed after [Standard Webhooks](https://www.standardwebhooks.com): verify `webhook-signature` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, `phone` is replaced by `phone_masked`. Delivered at least once, in no promised order.
         */
        post: operations["onWebhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description An order of time on a router. */
        SessionCreation: {
            /**
             * Format: int64
             * @description Id of the router on which time is bought.
             */
            router_id: number;
            /** @description Time bought: a count and a unit, `m` minutes, `h` hours, `d` days of 24 hours, `w` weeks of 7 days. Between the router's `min_duration` and `max_duration`. */
            duration: string;
            /** @description One of the router's `payment_methods`. */
            payment_method: string;
            /** @description Mobile number of the payer: E.164, or as it is dialled in the country of the installation. */
            phone: string;
            /**
             * Format: int64
             * @description Id of an `active` session of the same account on the same router: when this order is paid, its time is added to the end of that pass, under the same password. If the pass is over by then, the time starts at once as a pass of its own.
             */
            extends_session_id?: number;
        };
        /**
         * @description `pending_payment`: ordered, not paid. `activating`: paid, the router is being told, or is waited for. `active`: the time runs. `expired`: the time ran out. `ended`: ended early. `cancelled`: never began.
         * @enum {string}
         */
        SessionStatus: "pending_payment" | "activating" | "active" | "expired" | "ended" | "cancelled";
        /** @description The start of a payment. */
        PaymentStart: {
            /** @description Exactly the `amount` of the session, in major units of its currency. */
            amount: number;
            /** @description Mobile number that is asked to pay; it may differ from the number of the session. */
            phone: string;
            /**
             * Format: int64
             * @description Id of the session that is paid for.
             */
            session_id: number;
        };
        /**
         * @description Sessions whose time runs, or is over.
         * @enum {string}
         */
        SessionGroup: "active" | "expired";
        /** @description A router's new price. */
        PriceUpdate: {
            /** @description New price of one hour in major units of the currency of the router, with no more decimals than the currency has. */
            price: number;
        };
        /** @description What is delivered where. */
        WebhookRegistration: {
            /** @description Where events are delivered: https, a DNS name, port 443 or from 1024. */
            url: string;
            /** @description Names of the events to receive, each once. */
            events: ("payment.success" | "session.expired" | "payment.failed" | "payment.refunded" | "session.created" | "session.activated" | "session.ended" | "session.cancelled" | "webhook.test")[];
        };
        /** @description A payment succeeded. `data.applied` says whether it bought the time; one that did not goes back. */
        PaymentSuccessEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "payment.success";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["PaymentEventData"];
        };
        /** @description The payment at the time of the event. */
        PaymentEventData: {
            /**
             * Format: int64
             * @description Id of the payment.
             */
            id: number;
            /**
             * Format: int64
             * @description Id of the session that is paid for.
             */
            session_id: number;
            /** @description State of the payment at the moment of the answer. */
            status: components["schemas"]["PaymentStatus"];
            /** @description Amount in major units of `currency`. */
            amount: number;
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /** @description Mobile-money network of the session. */
            payment_method: string;
            /** @description Whether this payment bought the time. A success that came too late, or twice, is not applied and goes back. */
            applied: boolean;
            /** @description Why the payment failed; null unless `status` is `failed` or `expired`. */
            failure_code: components["schemas"]["FailureCode"] | null;
            /** @description The same for people, in English; may change. */
            failure_message: string | null;
            /** @description The operator's own reference of the transaction; null until it is known. */
            provider_reference: string | null;
            /** @description Why the money goes back, e.g. `late_payment`, `duplicate_payment`; else null. */
            refund_reason: string | null;
            /**
             * Format: date-time
             * @description When a payment without an answer of the operator shows as `expired`.
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When the operator took the money; null before.
             */
            paid_at: string | null;
            /**
             * Format: date-time
             * @description When the money was given back; null unless it was.
             */
            refunded_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, RFC 3339 in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, RFC 3339 in UTC with milliseconds.
             */
            updated_at: string;
            /**
             * Format: int64
             * @description Id of the router of the session.
             */
            router_id: number;
            /** @description Number that is asked to pay, in E.164. Only for the account that paid. */
            phone?: string;
            /** @description In place of `phone`, for the account that owns the router and did not buy: the number without its middle digits. */
            phone_masked?: string;
        };
        /**
         * @description `pending`: the operator has not decided. `success`: the money was taken. `failed`: no money was taken. `expired`: no answer in time; it can still succeed late. `refund_pending`: the money is on its way back. `refunded`: it is back. `refund_failed`: it could not go back; a person looks at it.
         * @enum {string}
         */
        PaymentStatus: "pending" | "success" | "failed" | "expired" | "refund_pending" | "refunded" | "refund_failed";
        /**
         * @description Why a payment failed. Further codes may be added.
         * @enum {string}
         */
        FailureCode: "payer_rejected" | "insufficient_funds" | "payer_not_found" | "payer_limit_reached" | "payer_timeout" | "provider_unavailable" | "provider_error";
        /** @description The time of a session ran out; exactly once for a session. Not for one that was ended early. */
        SessionExpiredEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "session.expired";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["SessionEventData"];
        };
        /** @description The session at the time of the event, without its password. */
        SessionEventData: {
            /**
             * Format: int64
             * @description Id of the session.
             */
            id: number;
            /**
             * Format: int64
             * @description Id of the router on which time is bought.
             */
            router_id: number;
            /** @description State of the session at the moment of the answer. */
            status: components["schemas"]["SessionStatus"];
            /** @description Why the session is `ended` (`client_ended`, `admin_ended`, `refunded`) or `cancelled` (`client_cancelled`, `payment_timeout`, `provisioning_failed`); else null. More reasons may be added. */
            status_reason: string | null;
            /** @description Time bought: a count and a unit, `m` minutes, `h` hours, `d` days of 24 hours, `w` weeks of 7 days. */
            duration: string;
            /** @description `duration` in seconds. */
            duration_seconds: number;
            /** @description Mobile-money network that was chosen for the session. */
            payment_method: string;
            /** @description What the session costs in major units of `currency`, fixed when it was created: price per hour × time, half up to the smallest unit of the currency. */
            amount: number;
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /**
             * Format: int64
             * @description Id of the payment that bought the time, before that of the newest attempt; null before any.
             */
            payment_id: number | null;
            /** @description Name of the Wi-Fi network. */
            ssid: string;
            /** @description How the password works, and what a QR code can do. */
            access: components["schemas"]["Access"];
            /**
             * Format: date-time
             * @description Until when the session must be paid; after that it is cancelled as `payment_timeout`.
             */
            payment_due_at: string;
            /**
             * Format: date-time
             * @description When the time began to run, or for added time will begin: where the pass ended before; null before it was paid.
             */
            starts_at: string | null;
            /**
             * Format: date-time
             * @description When the time runs out: `starts_at` + `duration_seconds`; null before it began.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When the session was over (`expired`, `ended` or `cancelled`); null before.
             */
            ended_at: string | null;
            /** @description Seconds left of the time of this session, rounded up, so at most `duration_seconds`; null before it was paid, 0 when it is over. */
            remaining_seconds: number | null;
            /**
             * Format: int64
             * @description Id of the session whose pass this one was ordered to lengthen; else null.
             */
            extends_session_id: number | null;
            /**
             * Format: int64
             * @description Id of the first session of the pass, its own for a pass of one session. The active sessions of a pass follow each other and have one password. Added time that was paid when the pass was over is a pass of its own.
             */
            pass_id: number;
            /**
             * Format: date-time
             * @description When it was created, RFC 3339 in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, RFC 3339 in UTC with milliseconds.
             */
            updated_at: string;
            /** @description Number of the payer in E.164. Only for the account that bought. */
            phone?: string;
            /** @description In place of `phone`, for the account that owns the router and did not buy: the number without its middle digits. */
            phone_masked?: string;
        };
        /** @description How a bought password works, and what a QR code can do. */
        Access: {
            /** @description As `access_kind` of the router, fixed when the session was created. */
            kind: components["schemas"]["AccessKind"];
            /** @description User name to sign in with beside `password`; null where none is asked for, and wherever `password` is null. */
            username: string | null;
            /** @description Password of the network itself, which all its guests share, where another one is signed in with; else null. */
            network_password: string | null;
            /** @description Text of a QR code that joins the network (`WIFI:…`); null where none can, and wherever `password` is null. */
            qr: string | null;
            /** @description What that code does. `access`: who scans it is online. `network`: it only joins the network, where `username` and `password` are still to be signed in with. null: there is no code. */
            qr_joins: ("access" | "network") | null;
            /** @description Whether the end of the time is enforced. false: the password works on, because all share it. */
            end_enforced: boolean;
            /** @description Devices that the pass lets online at a time. */
            max_devices: number;
        };
        /**
         * @description What a bought password is. `wpa_personal_per_client`: the password of the Wi-Fi itself. `wpa_enterprise`: with the user name, the sign-in of the Wi-Fi itself (PEAP). `portal_login`: with the user name, the sign-in of the hotspot. `shared_password`: the password of the owner, the same for all.
         * @enum {string}
         */
        AccessKind: "wpa_personal_per_client" | "wpa_enterprise" | "portal_login" | "shared_password";
        /** @description A payment failed, or the payer did not answer. */
        PaymentFailedEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "payment.failed";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["PaymentEventData"];
        };
        /** @description The money of a payment was given back. */
        PaymentRefundedEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "payment.refunded";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["PaymentEventData"];
        };
        /** @description A session was ordered. */
        SessionCreatedEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "session.created";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["SessionEventData"];
        };
        /** @description The time of a session began to run. */
        SessionActivatedEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "session.activated";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["SessionEventData"];
        };
        /** @description A session was ended early. */
        SessionEndedEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "session.ended";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["SessionEventData"];
        };
        /** @description A session was cancelled before it began. */
        SessionCancelledEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "session.cancelled";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["SessionEventData"];
        };
        /** @description Sent on demand from the developer settings, to one endpoint, whatever it was registered for. */
        WebhookTestEvent: {
            /** @description Id of the event, as in `webhook-id`. */
            id: string;
            /**
             * @description Name of the event.
             * @constant
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Version of the API whose objects these are.
             * @constant
             */
            api_version: "1.0";
            data: components["schemas"]["TestEventData"];
        };
        /** @description Says that nothing has happened. */
        TestEventData: {
            /** @description Says that this is a test. */
            message: string;
        };
        /** @description An error (RFC 9457). `code` is the contract: switch on it, and treat a code you do not know by its status. */
        Problem: {
            /**
             * Format: uri
             * @description Address of a page that explains the code.
             */
            type: string;
            /** @description What the code means; always the same for a code. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What is wrong with this request, for people; may change. */
            detail: string;
            /** @description Stable code of the error. */
            code: string;
            /** @description Id of this request, as in `X-Request-Id`. */
            request_id: string;
        };
        /** @description One value that is wrong. */
        ProblemItem: {
            /**
             * @description Where the wrong value stood.
             * @enum {string}
             */
            in: "body" | "query" | "path" | "header";
            /** @description The value in the body (RFC 6901), or `/` and the name of the parameter; empty for the body or path as a whole. */
            pointer: string;
            /**
             * @description What is wrong with it.
             * @enum {string}
             */
            code: "required" | "invalid_type" | "invalid_format" | "out_of_range" | "unknown_field" | "unknown_value" | "duplicate";
            /** @description The same for people; may change. */
            detail: string;
        };
        /** @description One page of the routers near a place. */
        RouterList: {
            /** @description Routers of this page, the nearest first; equally near ones by id. */
            data: components["schemas"]["Router"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Value of `cursor` that fetches the next page with the same filters; null on the last page. */
            next_cursor: string | null;
            /** @description Radius of the search as it was understood, in metres. */
            radius: number;
            /**
             * @description Unit of `radius` and `distance`: metres.
             * @constant
             */
            radius_unit: "m";
        };
        /** @description A Wi-Fi router that sells time. */
        Router: {
            /**
             * Format: int64
             * @description Id of the router.
             */
            id: number;
            /** @description Name of the place, as its owner wrote it. */
            name: string;
            /** @description Street address for people; null when unknown. */
            address: string | null;
            /** @description Name of the Wi-Fi network. */
            ssid: string;
            /** @description Latitude in decimal degrees. */
            lat: number;
            /** @description Longitude in decimal degrees. */
            lon: number;
            /** @description Whole metres from the centre of the search; null outside of the router list. */
            distance: number | null;
            /** @description Price of one hour in major units of `currency` (500 is 500 UGX, 1.5 is 1.50 KES). */
            price: number;
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /** @description `online` routers sell time; `offline` ones are listed and sell nothing now. */
            status: components["schemas"]["RouterStatus"];
            /** @description Mobile-money networks that the router accepts. `mobile_money` finds the network from the number of the payer. */
            payment_methods: string[];
            /** @description Shortest time that is sold here, e.g. `15m`. */
            min_duration: string;
            /** @description Longest time that is sold here, e.g. `30d`. */
            max_duration: string;
            /**
             * @description `wpa`: the network asks for a password; `nopass`: an open network.
             * @enum {string}
             */
            security: "wpa" | "nopass";
            /** @description What the bought password is there. `wpa_personal_per_client`: the password of the Wi-Fi itself. `wpa_enterprise`: with the user name, the sign-in of the Wi-Fi itself (PEAP). `portal_login`: with the user name, the sign-in of the hotspot. `shared_password`: the password of the owner, the same for all. */
            access_kind: components["schemas"]["AccessKind"];
            /** @description How the owner looks to buyers, for pages that sell time on this router; null: in no way of its own. */
            brand: components["schemas"]["Brand"] | null;
            /**
             * Format: date-time
             * @description When it was created, RFC 3339 in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, RFC 3339 in UTC with milliseconds.
             */
            updated_at: string;
        };
        /**
         * @description Whether a router sells time now.
         * @enum {string}
         */
        RouterStatus: "online" | "offline";
        /** @description How the owner of a router looks to buyers. */
        Brand: {
            /** @description Name that the owner goes by; null: none is set. */
            name: string | null;
            /** @description Colour of the owner as `#rrggbb`, as it was chosen: fit it to your grounds before you set text in it. null: none is set. */
            accent: string | null;
            /** @description Logo of the owner; null: none is set. */
            logo: components["schemas"]["Logo"] | null;
        };
        /** @description A picture, and how large it is. */
        Logo: {
            /**
             * Format: uri-reference
             * @description Where the picture is (SVG or PNG, at most 48 KB), relative to the host of this API. Another picture has another address.
             */
            url: string;
            /** @description Width in pixels, or in units of the drawing. */
            width: number;
            /** @description Height in the same measure. */
            height: number;
        };
        /** @description A purchase of time on a router. */
        Session: {
            /**
             * Format: int64
             * @description Id of the session.
             */
            id: number;
            /**
             * Format: int64
             * @description Id of the router on which time is bought.
             */
            router_id: number;
            /** @description State of the session at the moment of the answer. */
            status: components["schemas"]["SessionStatus"];
            /** @description Why the session is `ended` (`client_ended`, `admin_ended`, `refunded`) or `cancelled` (`client_cancelled`, `payment_timeout`, `provisioning_failed`); else null. More reasons may be added. */
            status_reason: string | null;
            /** @description Time bought: a count and a unit, `m` minutes, `h` hours, `d` days of 24 hours, `w` weeks of 7 days. */
            duration: string;
            /** @description `duration` in seconds. */
            duration_seconds: number;
            /** @description Mobile-money network that was chosen for the session. */
            payment_method: string;
            /** @description Number of the payer in E.164. */
            phone: string;
            /** @description What the session costs in major units of `currency`, fixed when it was created: price per hour × time, half up to the smallest unit of the currency. */
            amount: number;
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /**
             * Format: int64
             * @description Id of the payment that bought the time, before that of the newest attempt; null before any.
             */
            payment_id: number | null;
            /** @description Name of the Wi-Fi network. */
            ssid: string;
            /** @description Bought password, only while the session is `active` and only for the account that created it; else null. `xxxx-xxxx-xxxx` without look-alikes, but for `access.kind` `shared_password`, where it is the password of the owner. */
            password: string | null;
            /** @description How the password works, and what a QR code can do. */
            access: components["schemas"]["Access"];
            /**
             * Format: date-time
             * @description Until when the session must be paid; after that it is cancelled as `payment_timeout`.
             */
            payment_due_at: string;
            /**
             * Format: date-time
             * @description When the time began to run, or for added time will begin: where the pass ended before; null before it was paid.
             */
            starts_at: string | null;
            /**
             * Format: date-time
             * @description When the time runs out: `starts_at` + `duration_seconds`; null before it began.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When the session was over (`expired`, `ended` or `cancelled`); null before.
             */
            ended_at: string | null;
            /** @description Seconds left of the time of this session, rounded up, so at most `duration_seconds`; null before it was paid, 0 when it is over. */
            remaining_seconds: number | null;
            /**
             * Format: int64
             * @description Id of the session whose pass this one was ordered to lengthen; else null.
             */
            extends_session_id: number | null;
            /**
             * Format: int64
             * @description Id of the first session of the pass, its own for a pass of one session. The active sessions of a pass follow each other and have one password. Added time that was paid when the pass was over is a pass of its own.
             */
            pass_id: number;
            /**
             * Format: date-time
             * @description When it was created, RFC 3339 in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, RFC 3339 in UTC with milliseconds.
             */
            updated_at: string;
        };
        /** @description A mobile-money payment for a session. */
        Payment: {
            /**
             * Format: int64
             * @description Id of the payment.
             */
            id: number;
            /**
             * Format: int64
             * @description Id of the session that is paid for.
             */
            session_id: number;
            /** @description State of the payment at the moment of the answer. */
            status: components["schemas"]["PaymentStatus"];
            /** @description Amount in major units of `currency`. */
            amount: number;
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /** @description Number that is asked to pay, in E.164. */
            phone: string;
            /** @description Mobile-money network of the session. */
            payment_method: string;
            /** @description Whether this payment bought the time. A success that came too late, or twice, is not applied and goes back. */
            applied: boolean;
            /** @description Why the payment failed; null unless `status` is `failed` or `expired`. */
            failure_code: components["schemas"]["FailureCode"] | null;
            /** @description The same for people, in English; may change. */
            failure_message: string | null;
            /** @description The operator's own reference of the transaction; null until it is known. */
            provider_reference: string | null;
            /** @description Why the money goes back, e.g. `late_payment`, `duplicate_payment`; else null. */
            refund_reason: string | null;
            /**
             * Format: date-time
             * @description When a payment without an answer of the operator shows as `expired`.
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When the operator took the money; null before.
             */
            paid_at: string | null;
            /**
             * Format: date-time
             * @description When the money was given back; null unless it was.
             */
            refunded_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, RFC 3339 in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, RFC 3339 in UTC with milliseconds.
             */
            updated_at: string;
        };
        /** @description What the routers of the caller earned, bucket by bucket. */
        Earnings: {
            /**
             * @description Length of a bucket.
             * @enum {string}
             */
            period: "daily" | "weekly" | "monthly";
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /** @description IANA time zone in which days begin and end. */
            timezone: string;
            /**
             * Format: date
             * @description First day of the first bucket.
             */
            from: string;
            /**
             * Format: date
             * @description Last day of the last bucket.
             */
            to: string;
            /** @description Sum of all buckets. */
            total: components["schemas"]["EarningsTotal"];
            /** @description Buckets in ascending order, empty ones included. */
            data: components["schemas"]["EarningsBucket"][];
        };
        /** @description Figures of the whole span. */
        EarningsTotal: {
            /** @description Number of sessions paid for. */
            sessions: number;
            /** @description Sum of the payments that bought time, in major units of the currency. */
            gross: number;
            /** @description Sum of what was given back, in major units; booked on the day of the refund. */
            refunds: number;
            /** @description Commission of the platform, in major units. */
            fees: number;
            /** @description gross − refunds − fees, in major units; below 0 when refunds of earlier sales outweigh. */
            net: number;
        };
        /** @description Figures of one day, week or month. */
        EarningsBucket: {
            /**
             * Format: date
             * @description First day of the bucket (a Monday for weeks).
             */
            start: string;
            /**
             * Format: date
             * @description Last day of the bucket.
             */
            end: string;
            /** @description Number of sessions paid for. */
            sessions: number;
            /** @description Sum of the payments that bought time, in major units of the currency. */
            gross: number;
            /** @description Sum of what was given back, in major units; booked on the day of the refund. */
            refunds: number;
            /** @description Commission of the platform, in major units. */
            fees: number;
            /** @description gross − refunds − fees, in major units; below 0 when refunds of earlier sales outweigh. */
            net: number;
        };
        /** @description One page of the sessions on the routers of the caller. */
        OwnerUserList: {
            /** @description Sessions of this page, the latest start first. */
            data: components["schemas"]["OwnerUser"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Value of `cursor` that fetches the next page with the same filters; null on the last page. */
            next_cursor: string | null;
            /** @description All sessions on the routers of the caller, whatever the page and the filter. */
            counts: components["schemas"]["OwnerUserCounts"];
        };
        /** @description A session as the owner of its router sees it: without password and full number. */
        OwnerUser: {
            /**
             * Format: int64
             * @description Id of the session.
             */
            session_id: number;
            /**
             * Format: int64
             * @description Id of the router.
             */
            router_id: number;
            /** @description Name of the router. */
            router_name: string;
            /** @description State of the session: `active`, `expired` or `ended`. */
            status: components["schemas"]["SessionStatus"];
            /** @description `active`, or `expired` for what ran out or was ended early. */
            group: components["schemas"]["SessionGroup"];
            /** @description Number of the buyer without its middle digits, e.g. `+256*****3456`. */
            phone_masked: string;
            /** @description Time bought: a count and a unit, `m` minutes, `h` hours, `d` days of 24 hours, `w` weeks of 7 days. */
            duration: string;
            /** @description What the session cost, in major units of `currency`. */
            amount: number;
            /** @description ISO 4217 code of the currency of every amount in this object. */
            currency: string;
            /**
             * Format: date-time
             * @description When the time began to run, or for added time will begin: where the pass ended before; null before it was paid.
             */
            starts_at: string;
            /**
             * Format: date-time
             * @description When the time runs out, or ran out.
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When the session was over; null while it is active.
             */
            ended_at: string | null;
            /** @description Seconds left, rounded up; 0 when it is over. */
            remaining_seconds: number;
        };
        /** @description Number of sessions by group. */
        OwnerUserCounts: {
            /** @description Sessions whose time runs. */
            active: number;
            /** @description Sessions whose time ran out or was ended early. */
            expired: number;
        };
        /** @description An address to which events are delivered. */
        WebhookEndpoint: {
            /**
             * Format: int64
             * @description Id of the webhook endpoint.
             */
            id: number;
            /** @description Where events are delivered. */
            url: string;
            /** @description Names of the events that are delivered. */
            events: string[];
            /**
             * @description `active`, or `disabled` after five days of failures or an answer 410.
             * @enum {string}
             */
            status: "active" | "disabled";
            /** @description `whsec_` and the base64 key that signs deliveries (Standard Webhooks). Shown once, when the endpoint is created; null later. */
            secret: string | null;
            /**
             * Format: date-time
             * @description When it was created, RFC 3339 in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, RFC 3339 in UTC with milliseconds.
             */
            updated_at: string;
        };
        /** @description Request validation failed. */
        ValidationFailedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Request validation failed";
            /** @constant */
            status: 400;
            /** @constant */
            code: "validation_failed";
            /** @description Everything that is wrong with the request. */
            errors: components["schemas"]["ProblemItem"][];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "validation_failed";
        };
        /** @description Cursor is not valid for this list. */
        InvalidCursorProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Cursor is not valid for this list";
            /** @constant */
            status: 400;
            /** @constant */
            code: "invalid_cursor";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "invalid_cursor";
        };
        /** @description API key is missing. */
        MissingApiKeyProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "API key is missing";
            /** @constant */
            status: 401;
            /** @constant */
            code: "missing_api_key";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "missing_api_key";
        };
        /** @description API key is not valid. */
        InvalidApiKeyProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "API key is not valid";
            /** @constant */
            status: 401;
            /** @constant */
            code: "invalid_api_key";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "invalid_api_key";
        };
        /** @description Account is suspended. */
        AccountSuspendedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Account is suspended";
            /** @constant */
            status: 403;
            /** @constant */
            code: "account_suspended";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "account_suspended";
        };
        /** @description API key lacks a scope. */
        InsufficientScopeProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "API key lacks a scope";
            /** @constant */
            status: 403;
            /** @constant */
            code: "insufficient_scope";
            /**
             * @description The scope that the API key lacks.
             * @enum {string}
             */
            required_scope: "routers:read" | "sessions:read" | "sessions:write" | "payments:read" | "payments:write" | "webhooks:write" | "owner:read" | "owner:write";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "insufficient_scope";
        };
        /** @description No such route. */
        RouteNotFoundProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "No such route";
            /** @constant */
            status: 404;
            /** @constant */
            code: "route_not_found";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "route_not_found";
        };
        /** @description Rate limit exceeded. */
        RateLimitExceededProblem: components["schemas"]["Problem"] & {
            /** @constant */
            type: "https://iana.org/assignments/http-problem-types#quota-exceeded";
            /** @constant */
            title: "Rate limit exceeded";
            /** @constant */
            status: 429;
            /** @constant */
            code: "rate_limit_exceeded";
            /** @description Seconds until a request is admitted again. */
            retry_after: number;
            /** @description Names of the rate-limit policies that were exceeded. */
            "violated-policies": string[];
        };
        /** @description Internal server error. */
        InternalErrorProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Internal server error";
            /** @constant */
            status: 500;
            /** @constant */
            code: "internal_error";
        };
        /** @description Router not found. */
        RouterNotFoundProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Router not found";
            /** @constant */
            status: 404;
            /** @constant */
            code: "router_not_found";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "router_not_found";
        };
        /** @description Request body is not valid JSON. */
        InvalidJsonProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Request body is not valid JSON";
            /** @constant */
            status: 400;
            /** @constant */
            code: "invalid_json";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "invalid_json";
        };
        /** @description Content type must be application/json. */
        UnsupportedMediaTypeProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Content type must be application/json";
            /** @constant */
            status: 400;
            /** @constant */
            code: "unsupported_media_type";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "unsupported_media_type";
        };
        /** @description Request body is too large. */
        BodyTooLargeProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Request body is too large";
            /** @constant */
            status: 400;
            /** @constant */
            code: "body_too_large";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "body_too_large";
        };
        /** @description Phone is not a mobile number. */
        InvalidPhoneProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Phone is not a mobile number";
            /** @constant */
            status: 400;
            /** @constant */
            code: "invalid_phone";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "invalid_phone";
        };
        /** @description Router is offline. */
        RouterUnavailableProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Router is offline";
            /** @constant */
            status: 400;
            /** @constant */
            code: "router_unavailable";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "router_unavailable";
        };
        /** @description Duration is outside what the router sells. */
        DurationNotAllowedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Duration is outside what the router sells";
            /** @constant */
            status: 400;
            /** @constant */
            code: "duration_not_allowed";
            /** @description Shortest time that the router sells. */
            min_duration: string;
            /** @description Longest time that the router sells. */
            max_duration: string;
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "duration_not_allowed";
        };
        /** @description Payment method is not accepted by the router. */
        PaymentMethodNotSupportedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Payment method is not accepted by the router";
            /** @constant */
            status: 400;
            /** @constant */
            code: "payment_method_not_supported";
            /** @description What the router accepts. */
            payment_methods: string[];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "payment_method_not_supported";
        };
        /** @description Session cannot be extended. */
        SessionNotExtendableProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Session cannot be extended";
            /** @constant */
            status: 400;
            /** @constant */
            code: "session_not_extendable";
            session_status: components["schemas"]["SessionStatus"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "session_not_extendable";
        };
        /** @description Idempotency key was used with another request. */
        IdempotencyKeyReusedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Idempotency key was used with another request";
            /** @constant */
            status: 400;
            /** @constant */
            code: "idempotency_key_reused";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "idempotency_key_reused";
        };
        /** @description Idempotency key is in use. */
        IdempotencyKeyInUseProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Idempotency key is in use";
            /** @constant */
            status: 400;
            /** @constant */
            code: "idempotency_key_in_use";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "idempotency_key_in_use";
        };
        /** @description Session not found. */
        SessionNotFoundProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Session not found";
            /** @constant */
            status: 404;
            /** @constant */
            code: "session_not_found";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "session_not_found";
        };
        /** @description Session cannot be ended in its state. */
        SessionNotActiveProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Session cannot be ended in its state";
            /** @constant */
            status: 400;
            /** @constant */
            code: "session_not_active";
            session_status: components["schemas"]["SessionStatus"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "session_not_active";
        };
        /** @description Amount differs from the price of the session. */
        AmountMismatchProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Amount differs from the price of the session";
            /** @constant */
            status: 400;
            /** @constant */
            code: "amount_mismatch";
            /** @description The amount to pay, in major units of `currency`. */
            expected_amount: number;
            /** @description ISO 4217 code. */
            currency: string;
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "amount_mismatch";
        };
        /** @description A payment for the session is already in progress. */
        PaymentInProgressProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "A payment for the session is already in progress";
            /** @constant */
            status: 400;
            /** @constant */
            code: "payment_in_progress";
            /** @description Id of the payment that is pending. */
            payment_id: number;
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "payment_in_progress";
        };
        /** @description Session is already paid. */
        SessionAlreadyPaidProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Session is already paid";
            /** @constant */
            status: 400;
            /** @constant */
            code: "session_already_paid";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "session_already_paid";
        };
        /** @description Session cannot be paid in its state. */
        SessionNotPayableProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Session cannot be paid in its state";
            /** @constant */
            status: 400;
            /** @constant */
            code: "session_not_payable";
            session_status: components["schemas"]["SessionStatus"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "session_not_payable";
        };
        /** @description Too many payment attempts for the session. */
        PaymentAttemptsExceededProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Too many payment attempts for the session";
            /** @constant */
            status: 400;
            /** @constant */
            code: "payment_attempts_exceeded";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "payment_attempts_exceeded";
        };
        /** @description Too many payment prompts to the number. */
        PayerPromptLimitProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Too many payment prompts to the number";
            /** @constant */
            status: 400;
            /** @constant */
            code: "payer_prompt_limit";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "payer_prompt_limit";
        };
        /** @description Payment not found. */
        PaymentNotFoundProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Payment not found";
            /** @constant */
            status: 404;
            /** @constant */
            code: "payment_not_found";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "payment_not_found";
        };
        /** @description Only router owners may do this. */
        OwnerRoleRequiredProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Only router owners may do this";
            /** @constant */
            status: 403;
            /** @constant */
            code: "owner_role_required";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "owner_role_required";
        };
        /** @description The router belongs to another account. */
        NotRouterOwnerProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "The router belongs to another account";
            /** @constant */
            status: 403;
            /** @constant */
            code: "not_router_owner";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "not_router_owner";
        };
        /** @description Webhook URL is not allowed. */
        WebhookUrlNotAllowedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Webhook URL is not allowed";
            /** @constant */
            status: 400;
            /** @constant */
            code: "webhook_url_not_allowed";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "webhook_url_not_allowed";
        };
        /** @description Account has too many webhooks. */
        WebhookLimitReachedProblem: components["schemas"]["Problem"] & {
            type: string;
            /** @constant */
            title: "Account has too many webhooks";
            /** @constant */
            status: 400;
            /** @constant */
            code: "webhook_limit_reached";
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            code: "webhook_limit_reached";
        };
    };
    responses: {
        /** @description The API key is missing or not valid. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["MissingApiKeyProblem"] | components["schemas"]["InvalidApiKeyProblem"];
            };
        };
        /** @description Too many requests; try again after `Retry-After` seconds. */
        RateLimitExceeded: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                /**
                 * @description The limit of the key: name of the plan, `q` requests in any window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).
                 * @example "default";q=100;w=60
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description What is left: `r` requests; `t` seconds until the oldest counted request leaves the window.
                 * @example "default";r=57;t=23
                 */
                RateLimit?: string;
                /**
                 * @description Requests in any 60 seconds, as `q` of RateLimit-Policy.
                 * @example 100
                 */
                "X-RateLimit-Limit"?: number;
                /**
                 * @description Requests left, as `r` of RateLimit.
                 * @example 57
                 */
                "X-RateLimit-Remaining"?: number;
                /**
                 * @description When the oldest counted request leaves the window, in epoch seconds.
                 * @example 1795252543
                 */
                "X-RateLimit-Reset"?: number;
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["RateLimitExceededProblem"];
            };
        };
        /** @description Something failed on our side; try again later. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                /**
                 * @description The limit of the key: name of the plan, `q` requests in any window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).
                 * @example "default";q=100;w=60
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description What is left: `r` requests; `t` seconds until the oldest counted request leaves the window.
                 * @example "default";r=57;t=23
                 */
                RateLimit?: string;
                /**
                 * @description Requests in any 60 seconds, as `q` of RateLimit-Policy.
                 * @example 100
                 */
                "X-RateLimit-Limit"?: number;
                /**
                 * @description Requests left, as `r` of RateLimit.
                 * @example 57
                 */
                "X-RateLimit-Remaining"?: number;
                /**
                 * @description When the oldest counted request leaves the window, in epoch seconds.
                 * @example 1795252543
                 */
                "X-RateLimit-Reset"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["InternalErrorProblem"];
            };
        };
    };
    parameters: {
        /**
         * @description Makes the request safe to repeat for 24 hours: with the same key and body the first answer comes again, with `Idempotent-Replayed: true`. 1 to 255 letters, digits and `_-:.`, bare or in double quotes. Only successes are remembered.
         * @example order-7f3a91c2
         */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Id of this request, as in `request_id` of a problem. Name it when you ask for help.
         * @example req_01KAJ5Z8Q4T1V9X2M6N7P8R3SD
         */
        "X-Request-Id": string;
        /**
         * @description Answers are never cached.
         * @example no-store
         */
        "Cache-Control": string;
        /**
         * @description The limit of the key: name of the plan, `q` requests in any window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).
         * @example "default";q=100;w=60
         */
        "RateLimit-Policy": string;
        /**
         * @description What is left: `r` requests; `t` seconds until the oldest counted request leaves the window.
         * @example "default";r=57;t=23
         */
        RateLimit: string;
        /**
         * @description Requests in any 60 seconds, as `q` of RateLimit-Policy.
         * @example 100
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Requests left, as `r` of RateLimit.
         * @example 57
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description When the oldest counted request leaves the window, in epoch seconds.
         * @example 1795252543
         */
        "X-RateLimit-Reset": number;
        /**
         * @description Seconds after which to try again.
         * @example 23
         */
        "Retry-After": number;
        /**
         * @description How to authenticate (RFC 6750).
         * @example Bearer realm="airtill", error="invalid_token"
         */
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listRouters: {
        parameters: {
            query: {
                /**
                 * @description Latitude of the centre in decimal degrees.
                 * @example 0.3354
                 */
                lat: number;
                /**
                 * @description Longitude of the centre in decimal degrees.
                 * @example 32.5884
                 */
                lon: number;
                /**
                 * @description Radius of the search in metres, more than 0.
                 * @example 1000
                 */
                radius?: number;
                /**
                 * @description Most entries of a page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description `next_cursor` of the page before, with the same filters. It means nothing to clients.
                 * @example eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The routers of this page; an empty list when there are none. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description `rel="next"`: the next page, relative to the request (RFC 8288); only when there is one.
                     * @example <?lat=0.3354&lon=32.5884&cursor=eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouterList"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"] | components["schemas"]["InvalidCursorProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    getRouter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the router.
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The router; `distance` is null. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["RouterNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes the request safe to repeat for 24 hours: with the same key and body the first answer comes again, with `Idempotent-Replayed: true`. 1 to 255 letters, digits and `_-:.`, bare or in double quotes. Only successes are remembered.
                 * @example order-7f3a91c2
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCreation"];
            };
        };
        responses: {
            /** @description The session, waiting for its payment. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Path of what was created.
                     * @example /v1/sessions/9001
                     */
                    Location: string;
                    /**
                     * @description `true` when the answer is that of an earlier request with the same Idempotency-Key.
                     * @example true
                     */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Seconds after which to try again.
                     * @example 23
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["InvalidJsonProblem"] | components["schemas"]["UnsupportedMediaTypeProblem"] | components["schemas"]["BodyTooLargeProblem"] | components["schemas"]["ValidationFailedProblem"] | components["schemas"]["InvalidPhoneProblem"] | components["schemas"]["RouterUnavailableProblem"] | components["schemas"]["DurationNotAllowedProblem"] | components["schemas"]["PaymentMethodNotSupportedProblem"] | components["schemas"]["SessionNotExtendableProblem"] | components["schemas"]["IdempotencyKeyReusedProblem"] | components["schemas"]["IdempotencyKeyInUseProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["RouterNotFoundProblem"] | components["schemas"]["SessionNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the session.
                 * @example 9001
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["SessionNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    endSession: {
        parameters: {
            query?: {
                /**
                 * @description Only if the session is in this state; with `pending_payment` a time that was just paid is never ended by mistake. That one also gives up an order that was cancelled as `payment_timeout`: its reason becomes `client_cancelled`, and a payment that comes late goes back instead of buying it.
                 * @example active
                 */
                if_status?: components["schemas"]["SessionStatus"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the session.
                 * @example 9001
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session, ended or cancelled. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"] | components["schemas"]["SessionNotActiveProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["SessionNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    startMobileMoneyPayment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes the request safe to repeat for 24 hours: with the same key and body the first answer comes again, with `Idempotent-Replayed: true`. 1 to 255 letters, digits and `_-:.`, bare or in double quotes. Only successes are remembered.
                 * @example order-7f3a91c2
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentStart"];
            };
        };
        responses: {
            /** @description The payment, pending. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Path of what was created.
                     * @example /v1/payments/7001/status
                     */
                    Location: string;
                    /**
                     * @description `true` when the answer is that of an earlier request with the same Idempotency-Key.
                     * @example true
                     */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Seconds after which to try again.
                     * @example 23
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["InvalidJsonProblem"] | components["schemas"]["UnsupportedMediaTypeProblem"] | components["schemas"]["BodyTooLargeProblem"] | components["schemas"]["ValidationFailedProblem"] | components["schemas"]["InvalidPhoneProblem"] | components["schemas"]["RouterUnavailableProblem"] | components["schemas"]["AmountMismatchProblem"] | components["schemas"]["PaymentInProgressProblem"] | components["schemas"]["SessionAlreadyPaidProblem"] | components["schemas"]["SessionNotPayableProblem"] | components["schemas"]["PaymentAttemptsExceededProblem"] | components["schemas"]["PayerPromptLimitProblem"] | components["schemas"]["IdempotencyKeyReusedProblem"] | components["schemas"]["IdempotencyKeyInUseProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["SessionNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    getPaymentStatus: {
        parameters: {
            query?: {
                /**
                 * @description Seconds for which the answer may be held back until the payment leaves `pending`.
                 * @example 20
                 */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the payment.
                 * @example 7001
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["PaymentNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    getEarnings: {
        parameters: {
            query?: {
                /**
                 * @description Length of a bucket.
                 * @example weekly
                 */
                period?: "daily" | "weekly" | "monthly";
                /**
                 * @description First day; the bucket that holds it is included whole.
                 * @example 2026-11-09
                 */
                from?: string;
                /**
                 * @description Last day; the bucket that holds it is included whole.
                 * @example 2026-11-22
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All buckets of the span, empty ones included. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Earnings"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"] | components["schemas"]["OwnerRoleRequiredProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    listOwnerUsers: {
        parameters: {
            query?: {
                /**
                 * @description Only this group.
                 * @example active
                 */
                status?: components["schemas"]["SessionGroup"];
                /**
                 * @description Most entries of a page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description `next_cursor` of the page before, with the same filters. It means nothing to clients.
                 * @example eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions of this page, and how many there are of each group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description `rel="next"`: the next page, relative to the request (RFC 8288); only when there is one.
                     * @example <?lat=0.3354&lon=32.5884&cursor=eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerUserList"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ValidationFailedProblem"] | components["schemas"]["InvalidCursorProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"] | components["schemas"]["OwnerRoleRequiredProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    setRouterPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the router.
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceUpdate"];
            };
        };
        responses: {
            /** @description The router with its new price. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["InvalidJsonProblem"] | components["schemas"]["UnsupportedMediaTypeProblem"] | components["schemas"]["BodyTooLargeProblem"] | components["schemas"]["ValidationFailedProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"] | components["schemas"]["OwnerRoleRequiredProblem"] | components["schemas"]["NotRouterOwnerProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"] | components["schemas"]["RouterNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    registerWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes the request safe to repeat for 24 hours: with the same key and body the first answer comes again, with `Idempotent-Replayed: true`. 1 to 255 letters, digits and `_-:.`, bare or in double quotes. Only successes are remembered.
                 * @example order-7f3a91c2
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookRegistration"];
            };
        };
        responses: {
            /** @description The endpoint was there: its events are replaced and it is enabled; `secret` is null. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description `true` when the answer is that of an earlier request with the same Idempotency-Key.
                     * @example true
                     */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            /** @description The new endpoint with its secret, shown this once. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description `true` when the answer is that of an earlier request with the same Idempotency-Key.
                     * @example true
                     */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            /** @description The request is wrong, or a rule forbids it; `code` says which. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Seconds after which to try again.
                     * @example 23
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["InvalidJsonProblem"] | components["schemas"]["UnsupportedMediaTypeProblem"] | components["schemas"]["BodyTooLargeProblem"] | components["schemas"]["ValidationFailedProblem"] | components["schemas"]["WebhookUrlNotAllowedProblem"] | components["schemas"]["WebhookLimitReachedProblem"] | components["schemas"]["IdempotencyKeyReusedProblem"] | components["schemas"]["IdempotencyKeyInUseProblem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key may not do this. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["AccountSuspendedProblem"] | components["schemas"]["InsufficientScopeProblem"];
                };
            };
            /** @description There is no such thing, or the caller may not see it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /**
                     * @description Methods that the path knows, when it knows others.
                     * @example GET, HEAD
                     */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RouteNotFoundProblem"];
                };
            };
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
        };
    };
    onPaymentSuccess: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentSuccessEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionExpired: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionExpiredEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentFailed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentFailedEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentRefunded: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentRefundedEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionCreated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCreatedEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionActivated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionActivatedEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionEnded: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionEndedEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionCancelled: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCancelledEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookTest: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the event, the same on every attempt: ignore one that you have seen.
                 * @example evt_01KAJD5W7R2X9M4P6Q8S0T1V3K
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was sent, in epoch seconds.
                 * @example 1795252581
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            /** @description Never again: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Every other answer, and none within 15 seconds, is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
