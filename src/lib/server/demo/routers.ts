import type { AccessKind } from '#lib/domain/access-kind.ts';

/**
 * Twenty-four invented routers in and around Kampala. Names, networks and positions are invented; prices are in
 * minor units per hour.
 */
interface DemoRouter {
	name: string;
	address: string;
	ssid: string;
	lat: number;
	lon: number;
	priceMinor: number;
	security?: 'wpa' | 'nopass';
	status?: 'online' | 'offline';
	/** Default: wpa_personal_per_client. */
	accessKind?: AccessKind;
	networkPassword?: string;
	/** Payment methods. Default: those of the installation. */
	methods?: string[];
}

export const DEMO_ROUTERS: readonly DemoRouter[] = [
	{
		name: 'Blue Crane Cafe',
		address: 'Kampala Road',
		ssid: 'BlueCrane-WiFi',
		lat: 0.3136,
		lon: 32.5811,
		priceMinor: 500
	},
	{
		name: 'Old Taxi Park Kiosk 4',
		address: 'Namirembe Road',
		ssid: 'TaxiPark-4',
		lat: 0.3129,
		lon: 32.5735,
		priceMinor: 300
	},
	{
		name: 'Kisementi Corner',
		address: 'Cooper Road, Kisementi',
		ssid: 'KISEMENTI-WIFI',
		lat: 0.3377,
		lon: 32.5878,
		priceMinor: 500
	},
	{
		name: 'Acacia Reading Room',
		address: 'Acacia Avenue, Kololo',
		ssid: 'Acacia-Reads',
		lat: 0.3365,
		lon: 32.5899,
		priceMinor: 700
	},
	{
		name: 'Mulago Guest Canteen',
		address: 'Mulago Hill Road',
		ssid: 'Mulago-Canteen',
		lat: 0.3388,
		lon: 32.5762,
		priceMinor: 400
	},
	{
		name: 'Makerere Gate Print Shop',
		address: 'Makerere Hill Road',
		ssid: 'Gate-Prints',
		lat: 0.3312,
		lon: 32.5713,
		priceMinor: 300
	},
	{
		name: 'Wandegeya Market Hall',
		address: 'Bombo Road, Wandegeya',
		ssid: 'Wandegeya-Hall',
		lat: 0.3334,
		lon: 32.5742,
		priceMinor: 300
	},
	{
		name: 'Kamwokya Barber & Net',
		address: 'Kira Road, Kamwokya',
		ssid: 'Barber&Net',
		lat: 0.3435,
		lon: 32.5892,
		priceMinor: 250
	},
	{
		name: 'Bukoto Hill Lounge',
		address: 'Moyo Close, Bukoto',
		ssid: 'BukotoHill',
		lat: 0.3519,
		lon: 32.5971,
		priceMinor: 600
	},
	{
		name: 'Ntinda Stage Kiosk',
		address: 'Ntinda Road',
		ssid: 'Ntinda-Stage',
		lat: 0.3547,
		lon: 32.6142,
		priceMinor: 300
	},
	{
		name: 'Naguru View Bakery',
		address: 'Naguru Hill',
		ssid: 'NaguruBakery',
		lat: 0.3426,
		lon: 32.6049,
		priceMinor: 500
	},
	{
		name: 'Kyebando Youth Centre',
		address: 'Kyebando Ring Road',
		ssid: 'Youth-Kyebando',
		lat: 0.3572,
		lon: 32.5808,
		priceMinor: 200,
		security: 'nopass',
		accessKind: 'portal_login'
	},
	{
		name: 'Kawempe Hardware Stop',
		address: 'Bombo Road, Kawempe',
		ssid: 'KawempeStop',
		lat: 0.3801,
		lon: 32.5606,
		priceMinor: 250
	},
	{
		name: 'Nakasero Steps',
		address: 'Nakasero Lane',
		ssid: 'Nakasero-Steps',
		lat: 0.3204,
		lon: 32.5789,
		priceMinor: 600,
		accessKind: 'wpa_enterprise'
	},
	{
		name: 'Railway Gardens',
		address: 'Station Approach',
		ssid: 'RailwayGardens',
		lat: 0.3108,
		lon: 32.5851,
		priceMinor: 400,
		status: 'offline'
	},
	{
		name: 'Mengo Tailors Row',
		address: 'Mengo Hill Road',
		ssid: 'Tailors-Row',
		lat: 0.3027,
		lon: 32.5598,
		priceMinor: 250,
		accessKind: 'shared_password',
		networkPassword: 'Tailors & Friends'
	},
	{
		name: 'Rubaga View Rest House',
		address: 'Rubaga Road',
		ssid: 'RubagaView',
		lat: 0.3023,
		lon: 32.5533,
		priceMinor: 450,
		accessKind: 'portal_login',
		networkPassword: 'rubaga-guests'
	},
	{
		name: 'Nsambya Crossing',
		address: 'Ggaba Road, Nsambya',
		ssid: 'Nsambya-X',
		lat: 0.2991,
		lon: 32.5869,
		priceMinor: 300,
		methods: ['mtn_momo']
	},
	{
		name: 'Kabalagala Night Grill',
		address: 'Ggaba Road, Kabalagala',
		ssid: 'NightGrill',
		lat: 0.2976,
		lon: 32.5996,
		priceMinor: 500
	},
	{
		name: 'Muyenga Quarry Point',
		address: 'Tank Hill Road, Muyenga',
		ssid: 'Quarry-Point',
		lat: 0.2934,
		lon: 32.6106,
		priceMinor: 600
	},
	{
		name: 'Port Bell Jetty Shop',
		address: 'Port Bell Road, Luzira',
		ssid: 'JettyShop',
		lat: 0.2907,
		lon: 32.6545,
		priceMinor: 350
	},
	{
		name: 'Bweyogerere Bus Stop',
		address: 'Jinja Road, Bweyogerere',
		ssid: 'Bweyo-Stop',
		lat: 0.3556,
		lon: 32.6634,
		priceMinor: 250
	},
	{
		name: 'Entebbe Road Fuel & Wi-Fi',
		address: 'Entebbe Road, Kajjansi',
		ssid: 'Fuel-WiFi',
		lat: 0.2161,
		lon: 32.5386,
		priceMinor: 400
	},
	{
		name: 'Lakeside Entebbe Pier',
		address: 'Church Road, Entebbe',
		ssid: 'Pier-Entebbe',
		lat: 0.0593,
		lon: 32.4631,
		priceMinor: 800
	}
];
