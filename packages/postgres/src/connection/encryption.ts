import type { ConnectionOptions } from 'node:tls'
import { StartError } from '@perdure/ports'

export interface EncryptedUrl {
  /** The URL without the parameters that say how to encrypt. */
  readonly url: string
  readonly ssl: ConnectionOptions | false
}

const LOCAL = new Set(['', 'localhost', '127.0.0.1', '[::1]'])
const PARAMETERS = ['sslmode', 'ssl']

/**
 * How connections to the server are encrypted. A connection to another machine always is, and the certificate of the
 * server is verified, whatever `sslmode` says. On this machine, connections are encrypted if `sslmode` asks for it.
 *
 * @param ca certificate, in PEM, of the authority that signed the certificate of the server
 * @throws StartError `config-invalid` for a URL that is not valid, or that turns encryption off
 */
export function encryptionOf(text: string, ca: string | undefined): EncryptedUrl {
  const url = parse(text)
  const mode = url.searchParams.get('sslmode') ?? (ca === undefined ? undefined : 'verify-full')
  for (const name of PARAMETERS) url.searchParams.delete(name)
  // The parameter `host` replaces the host name; a path names the folder of a Unix socket.
  const host = url.searchParams.get('host')
  const isLocal = host === null ? LOCAL.has(url.hostname) : host.startsWith('/')
  if (mode === 'disable' && !isLocal) {
    throw new StartError('config-invalid', {
      message: 'The URL of the database has sslmode=disable, but the server is on another machine.',
      hint: 'Remove sslmode, and set storage.tls.caRef if the certificate of the server is signed by an authority of your own.',
    })
  }
  const isEncrypted = !isLocal || (mode !== undefined && mode !== 'disable')
  return { url: url.href, ssl: isEncrypted && { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) } }
}

function parse(text: string): URL {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return new URL(text)
  throw new StartError('config-invalid', {
    message: 'The URL of the database is not valid.',
    hint: 'Write postgres://user:password@host:port/database; percent-encode special characters in the password.',
  })
}
