import { createHmac } from 'node:crypto'
import type { HookRequest, HookVerify } from '@perdure/protocol'

const hmacOf = (secret: string | Buffer, text: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', secret).update(text).digest(encoding)

export interface Sample {
  readonly verify: HookVerify
  readonly secret: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly at: number // seconds
  /** The header with the signature, and where the signature begins and ends in it. */
  readonly signature: readonly [header: string, from: number, to?: number]
  readonly deliveryId?: string
  readonly tolerance?: number
}

const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
const STRIPE_BODY = '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}'
const LINEAR_BODY = '{"action":"create","type":"Issue","webhookTimestamp":1676056940508}'
const SHOPIFY_BODY = '{"id":820982911946154508}'
export const AT = 1_700_000_000

/** The first three are the examples that the platforms publish; the others follow their descriptions. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  'standard-webhooks': {
    verify: 'standard-webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    at: 1_614_265_330,
    signature: ['webhook-signature', 3, -1],
    deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    tolerance: 300,
  },
  github: {
    verify: 'github',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: {
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    at: AT,
    signature: ['x-hub-signature-256', 7],
    deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  },
  slack: {
    verify: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: SLACK_BODY,
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    at: 1_531_420_618,
    signature: ['x-slack-signature', 3],
    deliveryId: '398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    tolerance: 300,
  },
  stripe: {
    verify: 'stripe',
    secret: 'whsec_test_secret',
    body: STRIPE_BODY,
    headers: { 'stripe-signature': `t=${AT},v1=${hmacOf('whsec_test_secret', `${AT}.${STRIPE_BODY}`)}` },
    at: AT,
    signature: ['stripe-signature', `t=${AT},v1=`.length],
    deliveryId: 'evt_test_webhook',
    tolerance: 300,
  },
  linear: {
    verify: 'linear',
    secret: 'lin_wh_secret',
    body: LINEAR_BODY,
    headers: { 'linear-delivery': '234d1a4e-b617', 'linear-signature': hmacOf('lin_wh_secret', LINEAR_BODY) },
    at: 1_676_056_940,
    signature: ['linear-signature', 0],
    deliveryId: '234d1a4e-b617',
    tolerance: 60,
  },
  shopify: {
    verify: 'shopify',
    secret: 'hush',
    body: SHOPIFY_BODY,
    headers: {
      'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      'x-shopify-hmac-sha256': hmacOf('hush', SHOPIFY_BODY, 'base64'),
    },
    at: AT,
    signature: ['x-shopify-hmac-sha256', 0, -1],
    deliveryId: 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  },
  hmac: {
    verify: {
      ...{
        kind: 'hmac',
        header: 'x-sig',
        algorithm: 'sha256',
        encoding: 'base64',
        prefix: 'v2=',
        payload: '{id}:{timestamp}:{body}',
      },
      ...{ timestampHeader: 'x-time', timestampUnit: 'milliseconds', idHeader: 'x-id', secretEncoding: 'hex' },
    },
    secret: 'c0ffee',
    body: 'any bytes',
    headers: {
      ...{ 'x-id': 'd-1', 'x-time': String(AT * 1_000) },
      'x-sig': `v2=${hmacOf(Buffer.from('c0ffee', 'hex'), `d-1:${AT}000:any bytes`, 'base64')}`,
    },
    at: AT,
    signature: ['x-sig', 3, -1],
    deliveryId: 'd-1',
    tolerance: 300,
  },
}

export const requestOf = (sample: Sample, over: Partial<HookRequest> = {}): HookRequest => ({
  hookId: 'hook',
  header: (name) => sample.headers[name],
  body: new TextEncoder().encode(sample.body),
  secrets: [sample.secret],
  now: sample.at * 1_000,
  ...over,
})
export const withHeader = ({ headers }: Sample, name: string, value: string | undefined) => ({
  header: (wanted: string) => (wanted === name ? value : headers[wanted]),
})
