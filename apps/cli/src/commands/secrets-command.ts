import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { configFields, envNameOf } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { cliError, usageError } from '../cli-error.ts'
import { referencesAt, secretState } from '../config/secret-references.ts'
import { validConfig } from '../config/valid-config.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { makePrivateFolder } from '../private-folder.ts'

export interface SecretsGenerateFlags {
  readonly kind: string
  readonly out?: string
  readonly print?: boolean
}

/** Secret kind → the configuration field that refers to it. */
const KINDS: Readonly<Record<string, string>> = {
  pepper: 'auth.pepperRef',
  'encryption-key': 'storage.encryption.passphraseRef',
}

const SECRET_BYTES = 32

export async function secretsGenerateCommand(call: Call, { kind, out, print }: SecretsGenerateFlags): Promise<void> {
  const field = KINDS[kind]
  if (field === undefined)
    throw usageError(`unknown kind of secret ${kind}`, `choose one of ${Object.keys(KINDS).join(', ')}`)
  const secret = randomBytes(SECRET_BYTES).toString('base64')
  const bytes = Buffer.byteLength(secret)
  if (print) {
    call.out.document({ kind, secret, bytes }, () => `${secret}\n`)
    return
  }
  const ref = out ?? `file:./secrets/${kind}`
  const path = filePath(ref, call.terminal.cwd)
  await makePrivateFolder(dirname(path))
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: 'wx' }).catch(refuseExisting(path))
  call.out.document(
    { kind, ref, path, bytes },
    () => `wrote ${path}\nset ${field} (or ${envNameOf(field)}) to ${ref}\n`,
  )
}

export async function secretsCheckCommand(call: Call): Promise<void> {
  const loaded = await call.config()
  const config = validConfig(loaded)
  const references = configFields
    .filter(({ isSecret }) => isSecret)
    .flatMap(({ path }) => referencesAt(config, path).map((ref) => ({ field: path, ref })))
  const items = await Promise.all(
    references.map(async ({ field, ref }) => ({ field, ...(await secretState(ref, loaded, call.terminal.env)) })),
  )
  call.out.list(
    { items, nextCursor: null },
    {
      FIELD: 'field',
      REFERENCE: 'ref',
      STATE: ({ resolved, bytes }) => (resolved ? `set, ${bytes} bytes` : 'missing'),
      PROBLEM: 'problem',
    },
  )
  if (items.some(({ problem }) => problem !== undefined)) call.finish(EXIT_CODES.problem.code)
}

/** Only `file:` references can be written. */
function filePath(ref: string, cwd: string): string {
  if (ref.startsWith('file:') && ref.length > 'file:'.length) return resolve(cwd, ref.slice('file:'.length))
  throw usageError(`${ref} cannot be written`, 'use --out file:<path>, or --print and store it yourself')
}

const refuseExisting = (path: string) => (error: unknown) => {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  throw cliError('file-exists', {
    message: `${path} already exists, and secrets are never overwritten`,
    hint: 'choose another --out, or move the file away if nothing uses it',
    exit: 'conflict',
  })
}
