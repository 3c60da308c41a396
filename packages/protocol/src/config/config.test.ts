import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ServerConfigSchema } from './config.ts'
import { configFields, envNameOf } from './config-fields.ts'

const messagesOf = (input: unknown) =>
  v.safeParse(ServerConfigSchema, input).issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`) ?? []

/** The configuration table of the interface document. */
const SEED_DEFAULTS = {
  'server.host': '127.0.0.1',
  'server.port': 8080,
  'server.basePath': '/v1',
  'server.idempotency.requireKey': 'warn',
  'server.idempotency.ttlSeconds': 86_400,
  'server.cors.allowOrigins': [],
  'server.csrf.enabled': true,
  'server.rateLimit.perIpRequests': 60,
  'server.shutdown.drainTimeoutMs': 30_000,
  'auth.kind': 'token',
  'auth.pepperRef': undefined,
  'storage.path': './.graphorin/data.db',
  'storage.mode': 'server',
  'storage.encryption.enabled': false,
  'audit.enabled': false,
  'metrics.enabled': true,
  'metrics.requireAuth': false,
  'health.walWarnThresholdBytes': 52_428_800,
}

const valueAt = (root: unknown, path: string) =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root)

describe('ServerConfigSchema', () => {
  it.each(Object.entries(SEED_DEFAULTS))('has the default from the interface document for %s', (path, expected) => {
    expect(valueAt(v.parse(ServerConfigSchema, {}), path)).toEqual(expected)
  })

  it('fills in the missing fields of a section', () => {
    const config = v.parse(ServerConfigSchema, { server: { idempotency: { ttlSeconds: 5 } } })

    expect(config.server.idempotency).toEqual({ requireKey: 'warn', ttlSeconds: 5 })
    expect(config.server.port).toBe(8080)
  })

  it('returns fresh defaults from every parse', () => {
    const first = v.parse(ServerConfigSchema, {})
    const second = v.parse(ServerConfigSchema, {})

    first.server.cors.allowOrigins.push('*')

    expect(second.server.cors.allowOrigins).toEqual([])
    expect(v.parse(ServerConfigSchema, {}).server.cors.allowOrigins).toEqual([])
  })

  it('rejects an unknown field and reports its path', () => {
    expect(messagesOf({ server: { idempotency: { ttl: 5 } } })).toEqual([
      expect.stringMatching(/^server\.idempotency\.ttl: /),
    ])
    expect(messagesOf({ sever: {} })).toEqual([expect.stringMatching(/^sever: /)])
  })

  it.each([
    [{ server: { port: -1 } }, 'server.port'],
    [{ server: { port: 65_536 } }, 'server.port'],
    [{ server: { port: 80.5 } }, 'server.port'],
    [{ server: { port: '8080' } }, 'server.port'],
    [{ server: { basePath: 'v1' } }, 'server.basePath'],
    [{ server: { basePath: '/v1/' } }, 'server.basePath'],
    [{ server: { basePath: '/..' } }, 'server.basePath'],
    [{ server: { basePath: '/api/./v1' } }, 'server.basePath'],
    [{ server: { basePath: '/api/../v1' } }, 'server.basePath'],
    [{ server: { host: '' } }, 'server.host'],
    [{ server: { host: ' ' } }, 'server.host'],
    [{ server: [] }, 'server'],
    [{ server: new Map() }, 'server'],
    [{ server: { cors: [] } }, 'server.cors'],
    [{ auth: new Date(0) }, 'auth'],
    [{ server: { cors: { allowOrigins: ['https://a.example/path'] } } }, 'server.cors.allowOrigins.0'],
    [{ server: { idempotency: { requireKey: 'always' } } }, 'server.idempotency.requireKey'],
    [{ auth: { kind: 'basic' } }, 'auth.kind'],
    [{ storage: { path: '' } }, 'storage.path'],
  ])('rejects %j', (input, path) => {
    expect(messagesOf(input)).toEqual([expect.stringContaining(`${path}: `)])
  })

  it('rejects an array instead of the configuration object', () => {
    expect(v.is(ServerConfigSchema, [])).toBe(false)
  })

  it.each(['/v1', '/api/v1', '/.well-known', '/...', '/a..b'])('accepts the base path %s', (basePath) => {
    expect(messagesOf({ server: { basePath } })).toEqual([])
  })

  it.each(configFields.filter(({ type }) => type === 'integer').map(({ path }) => [path]))(
    'sets an upper limit for %s',
    (path) => {
      const withValue = (value: number) =>
        path.split('.').reduceRight<unknown>((member, name) => ({ [name]: member }), value)

      expect(messagesOf(withValue(1e300))).toEqual([expect.stringMatching(new RegExp(`^${path}: `))])
      expect(messagesOf(withValue(Number.MAX_SAFE_INTEGER))).not.toEqual([])
    },
  )

  it('accepts the maximum duration and size and rejects the next integer', () => {
    const withinTenYears = (ttlSeconds: number) => messagesOf({ server: { idempotency: { ttlSeconds } } }).length === 0
    const withinTimers = (drainTimeoutMs: number) =>
      messagesOf({ server: { shutdown: { drainTimeoutMs } } }).length === 0
    const withinTebibyte = (bodyLimitBytes: number) => messagesOf({ server: { bodyLimitBytes } }).length === 0

    expect([315_360_000, 315_360_001].map(withinTenYears)).toEqual([true, false])
    expect([2_147_483_647, 2_147_483_648].map(withinTimers)).toEqual([true, false])
    expect([2 ** 40, 2 ** 40 + 1].map(withinTebibyte)).toEqual([true, false])
  })

  it.each([
    'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4',
    'correct horse battery staple',
    'https',
    'ENV:PEPPER',
    'env:',
    424_242_424_242,
    ['s3cr3t-s3cr3t'],
  ])('rejects the secret %j in place of a secret reference without echoing the secret', (secret) => {
    const [message = '', ...others] = messagesOf({ auth: { pepperRef: secret } })

    expect(others).toEqual([])
    expect(message).toBe(
      'auth.pepperRef: must be a secret reference such as env:NAME or file:path, not the secret itself',
    )
    expect(message.replace('env:NAME', '')).not.toContain(String(secret))
  })

  it('accepts a reference with any scheme and leaves the check to the resolvers', () => {
    for (const pepperRef of [
      'env:PEPPER',
      'file:./pepper',
      'keyring:perdure?service=x',
      'vault:secret/data/perdure#pepper',
    ]) {
      expect(messagesOf({ auth: { pepperRef } })).toEqual([])
    }
  })
})

describe('configFields', () => {
  it('lists exactly the fields of the schema, with their defaults', () => {
    const config = v.parse(ServerConfigSchema, {})
    for (const { path, default: fallback } of configFields) expect(valueAt(config, path), path).toEqual(fallback)

    const leaves = (value: unknown, path: string[] = []): string[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).flatMap(([key, member]) => leaves(member, [...path, key]))
        : [path.join('.')]
    const withDefault = configFields.filter((field) => field.default !== undefined).map(({ path }) => path)
    expect(withDefault.toSorted()).toEqual(leaves(config).toSorted())
  })

  it('gives each field a type that matches its default', () => {
    const withDefault = configFields.filter(({ default: fallback }) => fallback !== undefined)
    expect(withDefault.length).toBeGreaterThan(50)
    for (const field of withDefault) {
      const actual = Array.isArray(field.default) ? 'strings' : typeof field.default
      const isFraction = actual === 'number' && !Number.isInteger(field.default)
      const type = actual === 'number' && !isFraction ? 'integer' : actual
      const isDuration = type === 'integer' && /(?:Ms|Seconds|Days)$/.test(field.path)
      const ofLists = [type, `${type}-or-strings`, 'objects']
      expect(isDuration ? ['duration'] : ofLists, field.path).toContain(field.type)
      if (field.choices !== undefined) expect(field.choices).toContain(field.default)
    }
  })

  it.each([
    ['30s', 30_000],
    ['2m', 120_000],
    [1_500, 1_500],
  ])('takes %j as a duration', (drainTimeoutMs, milliseconds) => {
    const parsed = v.parse(ServerConfigSchema, { server: { shutdown: { drainTimeoutMs } } })
    expect(parsed.server.shutdown.drainTimeoutMs).toBe(milliseconds)
  })

  it.each([
    [{ server: { idempotency: { ttlSeconds: '1d' } } }, 86_400],
    [{ retention: { eventsDays: '2w' } }, 14],
  ])('converts the duration in %j to the unit of its field', (config, value) => {
    const { server, retention } = v.parse(ServerConfigSchema, config)
    expect([server.idempotency.ttlSeconds, retention.eventsDays]).toContain(value)
  })

  it.each([
    [{ server: { shutdown: { drainTimeoutMs: '30 seconds' } } }, "a text such as '250ms'"],
    [{ retention: { eventsDays: '36h' } }, 'must be a whole number of days'],
  ])('refuses %j', (config, message) => {
    expect(v.safeParse(ServerConfigSchema, config).issues?.[0].message).toContain(message)
  })

  it('gives each field a note that is a sentence', () => {
    for (const { path, note } of configFields) expect(note, path).toMatch(/^\S.*\.$/)
  })

  it('gives each field its own environment variable', () => {
    const names = configFields.map(({ env }) => env)
    expect(new Set(names).size).toBe(names.length)
  })

  it('marks exactly the fields named …Ref or …Refs as secret references', () => {
    const marked = configFields.filter(({ isSecret }) => isSecret).map(({ path }) => path)

    expect(marked).toEqual(configFields.filter(({ path }) => /Refs?$/.test(path)).map(({ path }) => path))
    expect(marked).toContain('auth.previousPepperRefs')
  })
})

describe('envNameOf', () => {
  it.each([
    ['server.port', 'PERDURE_SERVER_PORT'],
    ['auth.pepperRef', 'PERDURE_AUTH_PEPPER_REF'],
    ['server.idempotency.requireKey', 'PERDURE_SERVER_IDEMPOTENCY_REQUIRE_KEY'],
    ['server.rateLimit.perIpRequests', 'PERDURE_SERVER_RATE_LIMIT_PER_IP_REQUESTS'],
    ['health.walWarnThresholdBytes', 'PERDURE_HEALTH_WAL_WARN_THRESHOLD_BYTES'],
  ])('turns %s into %s', (path, expected) => {
    expect(envNameOf(path)).toBe(expected)
  })
})
