import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { HookVerdict } from '@perdure/ports'
import type { HookVerify } from '@perdure/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { forge } from '../jwt/jwt.fixture.ts'
import { createJwtVerifier } from '../jwt/jwt-verifier.ts'
import { AT, requestOf, SAMPLES, type Sample, withHeader } from './hook-samples.fixture.ts'
import { createHookVerifiers } from './hook-verifiers.ts'

const verifiers = createHookVerifiers(createJwtVerifier())
const OTHER_SECRETS = ['whsec_b3RoZXItc2VjcmV0LW9mLTI0LWI=', 'whsec_YW5vdGhlci1zZWNyZXQtb2YtMjQ=']
const othersFor = ({ verify }: Sample): readonly string[] =>
  typeof verify === 'object' && verify.kind === 'hmac' ? ['00ff', '0a0b'] : OTHER_SECRETS

const { timingSafeEqual } = crypto

/** Replaces the comparison in constant time, which counts its calls. */
function comparingBy(compare: typeof timingSafeEqual) {
  const spy = vi.fn(compare)
  crypto.timingSafeEqual = spy
  syncBuiltinESMExports()
  return spy
}

afterEach(() => {
  crypto.timingSafeEqual = timingSafeEqual
  syncBuiltinESMExports()
  vi.restoreAllMocks()
})

const verify = (sample: Sample, over: Parameters<typeof requestOf>[1] = {}): Promise<HookVerdict> =>
  Promise.resolve(verifiers.open({ verify: sample.verify, secrets: [sample.secret] }).verify(requestOf(sample, over)))

/** The header with a signature that differs from the right one at one character only. */
function wrongAt(sample: Sample, place: 'first' | 'middle' | 'last'): string {
  const [name, from, to = 0] = sample.signature
  const value = sample.headers[name] ?? ''
  // The last character before the padding may hold unused bits.
  const last = value.length + to - 1 + (to === 0 ? 0 : -1)
  const at = { first: from, middle: Math.floor((from + last) / 2), last }[place]
  return `${value.slice(0, at)}${value[at] === 'a' ? '9' : 'a'}${value.slice(at + 1)}`
}

describe.each(Object.entries(SAMPLES))('the verifier %s', (_, sample) => {
  const [name] = sample.signature
  const right = sample.headers[name] ?? ''

  it('decides about the signature by timingSafeEqual alone', async () => {
    comparingBy(() => false)
    expect(await verify(sample)).toMatchObject({ kind: 'refused', reason: 'the signature is wrong' })

    comparingBy(() => true)
    for (const place of ['first', 'middle', 'last'] as const) {
      expect(await verify(sample, withHeader(sample, name, wrongAt(sample, place)))).toMatchObject({ kind: 'verified' })
    }
  })

  it('makes the same comparisons wherever the signature differs, and whichever secret is right', async () => {
    const spy = comparingBy(timingSafeEqual)
    const lengths = async (header: string, secrets: readonly string[]) => {
      spy.mockClear()
      await verify(sample, { ...withHeader(sample, name, header), secrets })
      return spy.mock.calls.map(([one, other]) => [one.byteLength, other.byteLength])
    }
    const headers = [right, ...(['first', 'middle', 'last'] as const).map((place) => wrongAt(sample, place))]
    for (const header of headers) {
      expect(await lengths(header, [sample.secret])).toEqual([[32, 32]])
      for (const at of [0, 1, 2]) {
        expect(await lengths(header, othersFor(sample).toSpliced(at, 0, sample.secret))).toEqual(
          Array(3).fill([32, 32]),
        )
      }
    }
  })
})

describe('a header with several signatures', () => {
  it.each([
    ['standard-webhooks', (right: string, wrong: string) => [`${right} ${wrong}`, `${wrong} ${right}`]],
    [
      'stripe',
      (right: string, wrong: string) => [`${right},${wrong.split(',')[1]}`, `${wrong},${right.split(',')[1]}`],
    ],
  ] as const)('of %s is compared as a whole, whichever of them is right', async (platform, both) => {
    const sample = SAMPLES[platform] as Sample
    const [name] = sample.signature
    const spy = comparingBy(timingSafeEqual)
    for (const header of both(sample.headers[name] ?? '', wrongAt(sample, 'first'))) {
      spy.mockClear()
      const secrets = [sample.secret, ...othersFor(sample)]
      expect(await verify(sample, { ...withHeader(sample, name, header), secrets })).toMatchObject({ kind: 'verified' })
      expect(spy).toHaveBeenCalledTimes(2 * secrets.length)
    }
  })
})

describe('the verifier of a JWT', () => {
  const [hash, secret] = ['LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=', 'k'.repeat(32)] // of hello
  const claims = { iss: 'https://a.test', aud: 'hook', exp: AT + 60, iat: AT, body: hash }
  const spec: HookVerify = {
    ...{ kind: 'jwt', header: 'authorization', issuer: claims.iss, audience: claims.aud, algorithms: ['HS256'] },
    bodyHashClaim: 'body',
  }
  const check = (body: string, { key = secret, secrets = [secret] } = {}) => {
    const jwt = forge({ header: { alg: 'HS256' }, claims, key: Buffer.from(key) })
    return verifiers.open({ verify: spec, secrets }).verify({
      ...{ hookId: 'h', body: new TextEncoder().encode(body), secrets, now: AT * 1_000, header: () => jwt },
    })
  }

  it('decides about the hash of the body by timingSafeEqual alone', async () => {
    comparingBy(() => false)
    expect((await check('hello')).kind).toBe('refused')
    comparingBy(() => true)
    expect((await check('hellp')).kind).toBe('verified')
  })

  it('decides about the signature by WebCrypto alone, and asks it about every secret', async () => {
    const subtle = vi.spyOn(globalThis.crypto.subtle, 'verify')
    const secrets = [secret, 'o'.repeat(32), 'p'.repeat(32)]
    expect((await check('hello', { secrets })).kind).toBe('verified')
    expect(subtle).toHaveBeenCalledTimes(secrets.length)

    subtle.mockResolvedValue(false)
    expect((await check('hello')).kind).toBe('refused')
    subtle.mockResolvedValue(true)
    expect((await check('hello', { key: 'x'.repeat(32) })).kind).toBe('verified')
  })
})
