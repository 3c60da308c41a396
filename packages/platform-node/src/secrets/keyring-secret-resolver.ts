import { type SecretResolver, StartError } from '@perdure/ports'

interface KeyringEntry {
  getPassword(): Promise<string | null | undefined>
}

/** The part of the optional package that the resolver uses. */
export interface Keyring {
  readonly AsyncEntry: new (service: string, account: string) => KeyringEntry
}

const PEER = '@napi-rs/keyring'
const DEFAULT_SERVICE = 'perdure'
const REFERENCE = /^keyring:([^?]+)(?:\?service=([^?&]+))?$/

/**
 * `keyring:account[?service=name]`: a password in the keyring of the operating system, as UTF-8. The default service is
 * `perdure`. The optional package that reads the keyring is loaded when the first such reference is resolved.
 */
export const keyringSecretResolver = (
  load: () => Promise<Keyring> = () => import('@napi-rs/keyring'),
): SecretResolver => ({
  scheme: 'keyring',
  async resolve(reference) {
    const [, account, service = DEFAULT_SERVICE] = REFERENCE.exec(reference) ?? []
    if (account === undefined) throw new Error('a keyring reference must have the form keyring:account?service=name')
    const { AsyncEntry } = await loadKeyring(load)
    const password = await new AsyncEntry(decodeURIComponent(service), decodeURIComponent(account)).getPassword()
    return password ? { bytes: Buffer.from(password, 'utf8') } : undefined
  },
})

async function loadKeyring(load: () => Promise<Keyring>): Promise<Keyring> {
  try {
    return await load()
  } catch (cause) {
    throw new StartError('secret-unresolvable', {
      message: `the package ${PEER} cannot be loaded`,
      hint: `install it beside the server: npm install ${PEER}`,
      cause,
    })
  }
}
