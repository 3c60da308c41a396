import type { ServerConfigInput } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'

const GITHUB = { id: 'github', verify: 'github', secretRef: 'env:HOOKS_TEST' }
const HMAC = { kind: 'hmac', header: 'x-sig' }
const configOf = (hook: object) => ({ webhooks: { in: [hook] } }) as ServerConfigInput

describe('webhooks.in', () => {
  it.each([
    [{ ...GITHUB, id: 'a b' }, 'webhooks.in.0.id: must be at most 64 letters'],
    [{ ...GITHUB, verify: 'gitlab' }, "webhooks.in.0.verify: must be 'standard-webhooks'"],
    [{ ...GITHUB, verify: { kind: 'rsa' } }, "webhooks.in.0.verify: must be 'standard-webhooks'"],
    [{ id: 'github', verify: 'github' }, 'webhooks.in.0.secretRef: must be set'],
    [{ ...GITHUB, secretRef: 'the secret' }, 'webhooks.in.0.secretRef: must be a secret reference'],
    [{ ...GITHUB, secretRef: [] }, 'webhooks.in.0.secretRef: must be a list of at least one'],
    [{ ...GITHUB, toleranceSeconds: 3_601 }, 'webhooks.in.0.toleranceSeconds: must be a whole number of seconds'],
    [{ ...GITHUB, toleranceSeconds: 0 }, 'webhooks.in.0.toleranceSeconds: must be a whole number of seconds'],
    [{ ...GITHUB, to: {} }, 'webhooks.in.0.to: must be an object with exactly one of agent, workflow and event'],
    [{ ...GITHUB, to: { agent: 'a', event: 'b' } }, 'webhooks.in.0.to: must be an object with exactly one of'],
    [{ ...GITHUB, to: { agent: 'a', key: 'b' } }, 'webhooks.in.0.to.key: unknown field'],
    [{ ...GITHUB, to: { agent: 'a', input: 'b' } }, 'webhooks.in.0.to.input: must be a function of the delivery'],
    [{ ...GITHUB, headers: ['Authorization'] }, 'webhooks.in.0.headers: must be headers without credentials'],
    [{ ...GITHUB, verify: { ...HMAC, payload: 'x' } }, 'webhooks.in.0.verify.payload: must be a text that contains'],
    [{ ...GITHUB, verify: { ...HMAC, payload: '{timestamp}{body}' } }, 'webhooks.in.0.verify: must be set: payload'],
    [{ ...GITHUB, verify: { ...HMAC, algorithm: 'md5' } }, 'webhooks.in.0.verify.algorithm: must be sha1'],
    [{ ...GITHUB, secret: 'x' }, 'webhooks.in.0.secret: unknown field'],
  ])('refuses %j', (hook, message) => {
    expect(() => parseConfig(configOf(hook))).toThrow(message)
  })

  it('refuses two hooks with one id', () => {
    expect(() => parseConfig({ webhooks: { in: [GITHUB, GITHUB] } } as ServerConfigInput)).toThrow('different ids')
  })

  const start = async (hook: object, secret?: string) => {
    const server = await createServer({
      config: { auth: { kind: 'none' }, ...configOf(hook) },
      adapters: {
        secretResolvers: [
          { scheme: 'env', resolve: async () => (secret === undefined ? undefined : { bytes: Buffer.from(secret) }) },
        ],
      },
    })
    return server.start()
  }

  it('refuses to start with an unknown agent, a missing secret and a secret of another form', async () => {
    await expect(start({ ...GITHUB, to: { agent: 'nope' } }, 's')).rejects.toThrow(
      'trigger "hook-github": target: no such agent or workflow is registered',
    )
    await expect(start(GITHUB)).rejects.toThrow('webhooks.in.0.secretRef')
    await expect(start({ ...GITHUB, verify: 'standard-webhooks' }, 'not base64!')).rejects.toThrow(
      'webhooks.in.0.secretRef: the secret is not whsec_ followed by',
    )
    for (const blank of ['  ', '\n', '\ufeff'])
      await expect(start(GITHUB, blank)).rejects.toThrow('webhooks.in.0.secretRef: the secret is blank')
    await expect(start({ ...GITHUB, verify: { ...HMAC, secretEncoding: 'hex' } }, 'not hex')).rejects.toThrow(
      'webhooks.in.0.secretRef: the secret is not hex',
    )
  })
})
