import type { SecretResolver } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { checkWebhookEndpoints, readWebhookEndpoints, type WebhookRegistration } from './webhook-endpoints.ts'

const HOOK: WebhookRegistration = { id: 'ops', url: 'https://hooks.example/in', secretRef: 'env:HOOK' }
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

describe('the webhooks of the configuration', () => {
  it('receive every event of every owner unless they say otherwise', () => {
    expect(readWebhookEndpoints([HOOK])).toEqual([
      { id: 'ops', url: 'https://hooks.example/in', events: ['*'], secrets: [{ ref: 'env:HOOK' }] },
    ])
    const events: WebhookRegistration['events'] = ['run.*']
    const narrowed = { ...HOOK, events, targets: ['mail'], owner: 'alice', previousSecretRef: 'env:OLD' } as const
    expect(readWebhookEndpoints([{ ...narrowed, targets: ['mail'] }])).toEqual([
      {
        ...{ id: 'ops', url: 'https://hooks.example/in', events: ['run.*'], targets: ['mail'], owner: 'alice' },
        secrets: [{ ref: 'env:HOOK' }, { ref: 'env:OLD' }],
      },
    ])
  })

  it('receive the events of every owner with the owner *, as in the API', () => {
    expect(readWebhookEndpoints([{ ...HOOK, owner: '*' }])).toEqual(readWebhookEndpoints([HOOK]))
  })

  it.each([
    ['an unknown member', [{ ...HOOK, secret: SECRET }], 'webhookEndpoints.0: secret: unknown member'],
    ['no secret', [{ id: 'ops', url: HOOK.url }], 'webhookEndpoints.0: secretRef: '],
    ['a text in place of a URL', [{ ...HOOK, url: 'hooks' }], 'webhookEndpoints.0: url: '],
    ['an event that does not exist', [{ ...HOOK, events: ['runs.*'] }], 'webhookEndpoints.0: events.0: '],
    ['no events', [{ ...HOOK, events: [] }], 'webhookEndpoints.0: events: '],
    ['an owner that no token can have', [{ ...HOOK, owner: 'two words' }], 'webhookEndpoints.0: owner: '],
    ['an id twice', [HOOK, HOOK], 'webhookEndpoints.1: id: ops is registered twice'],
  ])('are refused with %s', (_, registrations, message) => {
    const read = () => readWebhookEndpoints(registrations as readonly WebhookRegistration[])

    expect(read).toThrow(expect.objectContaining({ kind: 'config-invalid', message: expect.stringContaining(message) }))
  })
})

describe('the check of the webhooks at startup', () => {
  const sender = {
    refusalOf: (url: string) => (url.startsWith('https:') ? undefined : 'the URL must begin with https:'),
  }
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const check = (registration: WebhookRegistration, secrets: Readonly<Record<string, string>>) => {
    const env: SecretResolver = {
      scheme: 'env',
      async resolve(reference) {
        const secret = secrets[reference.slice('env:'.length)]
        return secret === undefined ? undefined : { bytes: new TextEncoder().encode(secret) }
      },
    }
    return checkWebhookEndpoints(readWebhookEndpoints([registration]), sender, { secretResolvers: [env], logger })
  }

  it('accepts an address that is allowed and secrets of Standard Webhooks', async () => {
    await check({ ...HOOK, previousSecretRef: 'env:OLD' }, { HOOK: SECRET, OLD: SECRET })
  })

  it('refuses an address that is not allowed, and says how to allow it', async () => {
    await expect(check({ ...HOOK, url: 'http://hooks.example' }, { HOOK: SECRET })).rejects.toMatchObject({
      kind: 'config-invalid',
      message: 'webhookEndpoints.0: url: the URL must begin with https:',
      hint: expect.stringContaining('webhooks.allowHosts'),
    })
  })

  it.each([
    ['without its prefix', SECRET.slice('whsec_'.length)],
    ['that is too short', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['that is not base64', `whsec_${'!'.repeat(40)}`],
  ])('refuses a secret %s without showing it', async (_, secret) => {
    const refused = check({ ...HOOK, previousSecretRef: 'env:OLD' }, { HOOK: SECRET, OLD: secret })

    await expect(refused).rejects.toMatchObject({
      kind: 'config-invalid',
      message: expect.stringContaining('webhookEndpoints.0: previousSecretRef: the value of env:OLD'),
    })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining(secret) })
  })

  it('refuses a secret that cannot be resolved', async () => {
    await expect(check(HOOK, {})).rejects.toMatchObject({ kind: 'secret-unresolvable' })
  })
})
