import type { HookVerifier } from '@perdure/ports'
import type { HookRequest, HookVerify } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { forge } from '../jwt/jwt.fixture.ts'
import { createJwtVerifier } from '../jwt/jwt-verifier.ts'
import { AT, requestOf, SAMPLES, type Sample, withHeader } from './hook-samples.fixture.ts'
import { createHookVerifiers } from './hook-verifiers.ts'

const verifiers = createHookVerifiers(createJwtVerifier())
const SENT = Object.entries(SAMPLES)
const open = ({ verify, secret }: Sample): HookVerifier => verifiers.open({ verify, secrets: [secret] })
const kindOf = async (sample: Sample, over: Partial<HookRequest> = {}) =>
  (await open(sample).verify(requestOf(sample, over))).kind

const hmacWith = (secretEncoding: 'utf8' | 'hex' | 'base64'): HookVerify => ({
  kind: 'hmac',
  header: 'x-sig',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  payload: '{body}',
  timestampUnit: 'seconds',
  secretEncoding,
})

describe.each(SENT)('the verifier %s', (_, sample) => {
  it('accepts the example and finds the id of the delivery', async () => {
    expect(await open(sample).verify(requestOf(sample))).toEqual({ kind: 'verified', deliveryId: sample.deliveryId })
  })

  it('refuses a signature that is wrong in any one of its characters, or cut', async () => {
    const [name, from, to] = sample.signature
    const value = sample.headers[name] ?? ''
    const end = value.length + (to ?? 0)
    for (let at = from; at < end; at++) {
      // The last character before the padding may hold unused bits, so that the change must not be the next character.
      const other = value[at] === 'a' ? '9' : 'a'
      const changed = value.slice(0, at) + other + value.slice(at + 1)
      expect([at, await kindOf(sample, withHeader(sample, name, changed))]).toEqual([at, 'refused'])
    }
    const signature = value.slice(from, end)
    const withoutPrefix = from === 0 ? [] : [signature, `${value.slice(0, from - 1)}${signature}`]
    const cut = `${value.slice(0, from)}${signature.slice(0, -4)}`
    for (const changed of ['', cut, `${value}0000`, 'x', ...withoutPrefix]) {
      expect([changed, await kindOf(sample, withHeader(sample, name, changed))]).toEqual([changed, 'refused'])
    }
  })

  it('refuses a body that is changed in any one of its bytes', async () => {
    for (let at = 0; at < sample.body.length; at++) {
      const body = new TextEncoder().encode(sample.body)
      body[at] = (body[at] ?? 0) ^ 1
      expect([at, await kindOf(sample, { body })]).toEqual([at, 'refused'])
    }
    expect(await kindOf(sample, { body: new Uint8Array() })).toBe('refused')
  })

  it('refuses a request without any one of its headers', async () => {
    for (const name of Object.keys(sample.headers)) {
      expect([name, await kindOf(sample, withHeader(sample, name, undefined))]).toEqual([name, 'refused'])
    }
  })

  it('refuses a request beyond the tolerance, in both directions', async () => {
    const { tolerance } = sample
    if (tolerance === undefined) return
    const kindAfter = (seconds: number) => kindOf(sample, { now: (sample.at + seconds) * 1_000 })
    expect([await kindAfter(tolerance), await kindAfter(tolerance + 2)]).toEqual(['verified', 'refused'])
    expect([await kindAfter(2 - tolerance), await kindAfter(-tolerance - 2)]).toEqual(['verified', 'refused'])
  })

  it('accepts any of several secrets, and refuses the others', async () => {
    const [one, other] = ['whsec_b3RoZXItc2VjcmV0LW9mLTI0LWI=', 'whsec_YW5vdGhlci1zZWNyZXQtb2YtMjQ=']
    expect(await kindOf(sample, { secrets: [one, sample.secret] })).toBe('verified')
    expect(await kindOf(sample, { secrets: [sample.secret, one] })).toBe('verified')
    expect(await kindOf(sample, { secrets: [one, other] })).toBe('refused')
    expect(await kindOf(sample, { secrets: [] })).toBe('refused')
  })

  it('accepts what it has signed itself', async () => {
    const now = AT * 1_000
    const body = JSON.stringify({ id: 'sample', webhookTimestamp: now })
    const headers = open(sample).sign?.({ deliveryId: 'sample', body, now }, sample.secret) ?? {}
    const own = { ...sample, headers, body, at: AT }
    expect(await kindOf(own)).toBe('verified')
    expect(await kindOf(own, { body: new TextEncoder().encode(`${body} `) })).toBe('refused')
  })
})

describe('createHookVerifiers', () => {
  it('accepts one of two signatures in a header, whichever is first', async () => {
    const standard = SAMPLES['standard-webhooks'] as Sample
    const wrong = `v1,${Buffer.alloc(32).toString('base64')}`
    const signature = standard.headers['webhook-signature'] ?? ''
    for (const both of [`${wrong} ${signature}`, `${signature} ${wrong}`, `v1a,abc ${signature}`])
      expect(await kindOf(standard, withHeader(standard, 'webhook-signature', both))).toBe('verified')

    const stripe = SAMPLES.stripe as Sample
    const [t, v1] = (stripe.headers['stripe-signature'] ?? '').split(',')
    for (const both of [`${t},v1=${'0'.repeat(64)},${v1}`, `${t},${v1},v0=${'0'.repeat(64)}`, `${v1},${t}`])
      expect(await kindOf(stripe, withHeader(stripe, 'stripe-signature', both))).toBe('verified')
    expect(await kindOf(stripe, withHeader(stripe, 'stripe-signature', `t=1,${t},${v1}`))).toBe('refused')
    expect(await kindOf(stripe, withHeader(stripe, 'stripe-signature', `${t},${v1?.replace('v1', 'v0')}`))).toBe(
      'refused',
    )
  })

  it('accepts the header names of Svix', async () => {
    const { headers, ...rest } = SAMPLES['standard-webhooks'] as Sample
    const renamed = Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value])
    expect(await kindOf({ ...rest, headers: Object.fromEntries(renamed) })).toBe('verified')
  })

  it('answers the URL challenge of Slack only if it is signed', async () => {
    const slack = SAMPLES.slack as Sample
    const body = '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRN"}'
    const headers = open(slack).sign?.({ deliveryId: '', body, now: AT * 1_000 }, slack.secret) ?? {}
    const asked = { ...slack, body, headers, at: AT }
    expect(await open(asked).verify(requestOf(asked))).toEqual({ kind: 'verified', challenge: '3eZbrw1aBm2rZgRN' })
    expect(await kindOf(asked, withHeader(asked, 'x-slack-signature', 'v0=00'))).toBe('refused')
  })

  it('finds the id of an event and of an interaction of Slack', async () => {
    const slack = SAMPLES.slack as Sample
    const idOf = async (body: string) => {
      const headers = open(slack).sign?.({ deliveryId: '', body, now: AT * 1_000 }, slack.secret) ?? {}
      return open(slack).verify(requestOf({ ...slack, body, headers, at: AT }))
    }
    expect(await idOf('{"type":"event_callback","event_id":"Ev1"}')).toEqual({ kind: 'verified', deliveryId: 'Ev1' })
    const interaction = `payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"12.3"}')}`
    expect(await idOf(interaction)).toEqual({ kind: 'verified', deliveryId: '12.3' })
    expect(await idOf('ssl_check=1')).toEqual({ kind: 'verified' })
  })

  it('refuses to open standard-webhooks with a secret of another form', () => {
    for (const secret of ['whsec_short', 'not base64!', ''])
      expect(() => verifiers.open({ verify: 'standard-webhooks', secrets: [secret] })).toThrow('whsec_')
  })

  it('refuses a signature with an empty key, which anybody can compute', async () => {
    const noKeys: readonly (readonly [name: string, secret: string])[] = [
      ...Object.keys(SAMPLES).map((name) => [name, ''] as const),
      ...[['standard-webhooks', 'whsec_'] as const, ['hmac', 'not hex'] as const],
    ]
    for (const [name, secret] of noKeys) {
      const sample = SAMPLES[name] as Sample
      const { body, at, headers } = sample
      const signed = open(sample).sign?.({ deliveryId: 'd-1', body, now: at * 1_000 }, secret)
      const forged = { ...sample, headers: { ...headers, ...signed } }
      expect([name, secret, await kindOf(forged, { secrets: [secret] })]).toEqual([name, secret, 'refused'])
    }
  })

  it('uses no part of a secret that is replaced by one of another form', async () => {
    const hmac = SAMPLES.hmac as Sample
    const signed = open(hmac).sign?.({ deliveryId: 'd-1', body: hmac.body, now: hmac.at * 1_000 }, 'c0')
    expect(await kindOf({ ...hmac, headers: { ...hmac.headers, ...signed } }, { secrets: ['c0'] })).toBe('verified')
    expect(await kindOf({ ...hmac, headers: { ...hmac.headers, ...signed } }, { secrets: ['c0-x'] })).toBe('refused')

    const standard = SAMPLES['standard-webhooks'] as Sample
    const { body, at, headers } = standard
    const short = open(standard).sign?.({ deliveryId: 'd-1', body, now: at * 1_000 }, 'whsec_AAAA')
    expect(await kindOf({ ...standard, headers: { ...headers, ...short } }, { secrets: ['whsec_AAAA'] })).toBe(
      'refused',
    )
  })

  it('refuses to open an hmac with a secret that its secretEncoding does not fit', () => {
    const open = (secretEncoding: 'utf8' | 'hex' | 'base64', secret: string) =>
      verifiers.open({ verify: hmacWith(secretEncoding), secrets: [secret] })
    for (const secret of ['gh-secret', 'abc', 'abxyz0', ''])
      expect(() => open('hex', secret)).toThrow('the secret is not hex')
    for (const secret of ['not base64!', '', '='])
      expect(() => open('base64', secret)).toThrow('the secret is not base64')
    for (const [encoding, secret] of [
      ['hex', '00fF'],
      ['base64', 'b3RoZXI='],
      ['base64', 'b3RoZXI'],
      ['utf8', 'ü !'],
    ] as const)
      expect(() => open(encoding, secret)).not.toThrow()
  })

  it('accepts only an object of a function, and passes the request on', async () => {
    const seen: HookRequest[] = []
    const of = (result: unknown) => {
      const verify = ((request: HookRequest) => {
        seen.push(request)
        return result
      }) as HookVerify
      return verifiers.open({ verify, secrets: [] }).verify(requestOf(SAMPLES.github as Sample))
    }
    for (const result of [false, true, undefined, null, 'yes', Promise.resolve(true)])
      expect((await of(result)).kind).toBe('refused')
    expect(await of(Promise.resolve({ deliveryId: 'd-1' }))).toEqual({ kind: 'verified', deliveryId: 'd-1' })
    expect(await of({})).toEqual({ kind: 'verified' })
    expect(seen[0]?.secrets).toEqual(["It's a Secret to Everybody"])
  })

  describe('with a JWT', () => {
    const secret = 'k'.repeat(32)
    const spec = {
      kind: 'jwt',
      header: 'authorization',
      issuer: 'https://a.test',
      audience: 'hook',
      algorithms: ['HS256'],
    } as const
    const hash = 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' // of hello
    const claims = { iss: 'https://a.test', aud: 'hook', exp: AT + 60, iat: AT, jti: 'j-1', body: hash }
    const signed = (over: object, key = secret) =>
      forge({ header: { alg: 'HS256' }, claims: { ...claims, ...over }, key: Buffer.from(key) })
    const check = (
      jwt: string,
      { secrets = [secret], body = 'hello', bodyHashClaim = undefined as string | undefined } = {},
    ) =>
      verifiers.open({ verify: { ...spec, algorithms: [...spec.algorithms], bodyHashClaim }, secrets }).verify({
        ...{ hookId: 'h', body: new TextEncoder().encode(body), secrets, now: AT * 1_000 },
        header: (name) => (name === 'authorization' ? jwt : undefined),
      })

    it('accepts it with and without Bearer, with any of the secrets, and uses jti as the id', async () => {
      const verified = { kind: 'verified', deliveryId: 'j-1' }
      expect(await check(signed({}))).toEqual(verified)
      expect(await check(`Bearer ${signed({})}`, { secrets: ['o'.repeat(32), secret] })).toEqual(verified)
    })

    it('refuses one that is expired, of another issuer or key, or missing', async () => {
      for (const jwt of [signed({ exp: AT - 100 }), signed({ iss: 'https://b.test' }), signed({}, 'x'.repeat(32)), ''])
        expect((await check(jwt)).kind).toBe('refused')
    })

    it('compares the claim with the hash of the body when it is configured', async () => {
      const bodyHashClaim = 'body'
      const hex = Buffer.from(hash, 'base64').toString('hex')
      expect((await check(signed({}), { bodyHashClaim })).kind).toBe('verified')
      expect((await check(signed({ body: hex }), { bodyHashClaim })).kind).toBe('verified')
      expect((await check(signed({}), { bodyHashClaim, body: 'hellp' })).kind).toBe('refused')
      expect((await check(signed({ body: undefined }), { bodyHashClaim })).kind).toBe('refused')
    })
  })
})
