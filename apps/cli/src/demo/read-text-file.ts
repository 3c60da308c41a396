import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { extname, isAbsolute, relative, resolve, sep } from 'node:path'

const MAX_BYTES = 1_048_576
const TEXT_EXTENSIONS = new Set(['.md', '.markdown', '.mdx', '.txt', '.text', '.rst', '.adoc', '.org', '.tex'])
/** Documents without an extension, such as LICENSE and CHANGES. */
const CAPITALS = /^[A-Z]{3,}$/

/**
 * Reads a document below `baseDir`. Rejects hidden files and anything that is not a document by its name, so that a
 * caller with permission to run the agent cannot read keys and settings.
 *
 * @throws Error with a `code`
 */
export async function readTextFile(baseDir: string, name: string): Promise<string> {
  const base = await realpath(baseDir)
  const path = await realPathBelow(base, name)
  const parts = relative(base, path).split(sep)
  const last = parts.at(-1) ?? ''
  const isDocument = TEXT_EXTENSIONS.has(extname(last).toLowerCase()) || CAPITALS.test(last)
  if (!isDocument || parts.some((part) => part.startsWith('.') || part === 'node_modules')) throw notAllowed()
  return decode(await readBounded(path))
}

async function realPathBelow(base: string, name: string): Promise<string> {
  if (name.includes('\0') || isAbsolute(name) || isOutside(base, resolve(base, name))) throw notAllowed()
  const path = await realpath(resolve(base, name)).catch(refuse)
  if (isOutside(base, path)) throw notAllowed()
  return path
}

function isOutside(base: string, path: string): boolean {
  const inner = relative(base, path)
  return inner === '' || inner === '..' || inner.startsWith(`..${sep}`) || isAbsolute(inner)
}

// O_NOFOLLOW rejects a symlink created after the check; O_NONBLOCK keeps a named pipe from blocking the open.
async function readBounded(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(refuse)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw notAllowed()
    if (stats.size > MAX_BYTES) throw fileError('file-too-large', `the file is larger than ${MAX_BYTES} bytes`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

function decode(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {}
  throw fileError('file-not-text', 'the file is not UTF-8 text')
}

/** Drops the system's message, which contains the absolute path. */
function refuse({ code }: NodeJS.ErrnoException): never {
  if (code === 'ENOENT' || code === 'ENOTDIR') throw fileError('file-not-found', 'the file does not exist')
  throw fileError('file-unreadable', `the file cannot be read (${code})`)
}

const notAllowed = () =>
  fileError('file-not-allowed', 'only text documents below the working directory of the server can be read')

const fileError = (code: string, message: string): Error => Object.assign(new Error(message), { code })
