import { describe, expect, it } from 'vitest'
import { type Keyring, keyringSecretResolver } from './keyring-secret-resolver.ts'

const stored: Readonly<Record<string, string>> = { 'perdure/pepper': 'p', 'my app/ann': 'a' }
const keyring: Keyring = {
  AsyncEntry: class {
    readonly name: string
    constructor(service: string, account: string) {
      this.name = `${service}/${account}`
    }
    async getPassword() {
      return stored[this.name]
    }
  },
}
const resolve = async (reference: string) => {
  const secret = await keyringSecretResolver(async () => keyring).resolve(reference)
  return secret === undefined ? undefined : Buffer.from(secret.bytes).toString()
}

describe('keyringSecretResolver', () => {
  it.each([
    ['keyring:pepper', 'p'],
    ['keyring:ann?service=my%20app', 'a'],
    ['keyring:nobody', undefined],
  ])('resolves %s', async (reference, secret) => {
    expect(await resolve(reference)).toBe(secret)
  })

  it.each(['keyring:?service=x', 'keyring:a?other=x', 'keyring:a?service=x&more=y'])(
    'rejects %s',
    async (reference) => {
      await expect(resolve(reference)).rejects.toThrow('keyring:account?service=name')
    },
  )

  it('reports how to install the missing package', async () => {
    const resolver = keyringSecretResolver(() => Promise.reject(new Error('Cannot find package')))

    await expect(resolver.resolve('keyring:pepper')).rejects.toMatchObject({
      kind: 'secret-unresolvable',
      hint: expect.stringContaining('npm install @napi-rs/keyring'),
    })
  })

  it('matches the interface of the real package', async () => {
    const { AsyncEntry } = await import('@napi-rs/keyring')

    expect(AsyncEntry.prototype.getPassword).toBeTypeOf('function')
  })
})
