import { StartError } from '@perdure/ports'
import Database from 'better-sqlite3'
import type { Encryption } from './encryption.ts'

/** Opens one connection. With encryption, it sets the key, but a wrong key is detected only by the first read. */
export type OpenDatabase = (path: string, options?: Database.Options) => Database.Database

/**
 * The cipher of every encrypted file. Named explicitly, so that a new driver default cannot make existing files
 * unreadable.
 */
export const CIPHER = 'chacha20'

export const openPlain: OpenDatabase = (path, options) => new Database(path, options)

const PEER = 'better-sqlite3-multiple-ciphers'

/**
 * Returns the function that opens the file. The driver that supports encryption is an optional package, loaded only if
 * needed.
 *
 * @throws StartError `encryption-peer-missing`, `encryption-passphrase-missing`
 */
export async function databaseOpener(
  encryption: Encryption | undefined,
  load: () => Promise<CipherModule> = loadPeer,
): Promise<OpenDatabase> {
  if (encryption === undefined) return openPlain
  const passphrase = Buffer.from(encryption.passphrase)
  if (passphrase.length === 0) throw passphraseMissing()
  const Driver = await loadDriver(load)
  return (path, options) => openKeyed(new Driver(path, options), passphrase)
}

type CipherModule = { readonly default: typeof Database }

export const loadPeer = (): Promise<CipherModule> => import('better-sqlite3-multiple-ciphers')

/** @throws StartError `encryption-peer-missing` */
export async function loadDriver(load: () => Promise<CipherModule>): Promise<typeof Database> {
  try {
    return (await load()).default
  } catch (cause) {
    throw new StartError('encryption-peer-missing', {
      message: `Encryption is enabled, but the package ${PEER} cannot be loaded.`,
      hint: `Install it beside the server: npm install ${PEER}`,
      cause,
    })
  }
}

/** The plain driver silently ignores the key and writes plain text, so the driver must first confirm the cipher. */
function openKeyed(database: Database.Database, passphrase: Buffer): Database.Database {
  try {
    database.pragma(`cipher = '${CIPHER}'`)
    if (database.pragma('cipher', { simple: true }) !== CIPHER) throw new Error(`the driver has no cipher ${CIPHER}`)
    const { key } = database as Database.Database & { readonly key: (passphrase: Buffer) => number }
    key.call(database, passphrase)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const passphraseMissing = (): StartError =>
  new StartError('encryption-passphrase-missing', {
    message: 'Encryption is enabled without a passphrase.',
    hint: 'Set the passphraseRef of the encrypted file to a secret reference such as env:NAME or file:path.',
  })
