import { join, sep } from 'node:path'
import { perdureError } from '@perdure/ports'
import { type FileAccess, isMissing } from './file-access.ts'

const MAX_PATH_LENGTH = 1_024

/**
 * Accepts a relative path whose parts are plain names separated by `/`.
 *
 * @throws PerdureError `validation-failed` for any other path
 */
export function checkPlainPath(name: string, path: string): void {
  const isPlain =
    path.length <= MAX_PATH_LENGTH &&
    !/[\0\\]/.test(path) &&
    !/^[A-Za-z]:/.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (isPlain) return
  throw perdureError('validation-failed', {
    message: `${name}: must be a relative path of plain names separated by /`,
    hint: 'remove any leading /, drive letter, backslash, . and .. from the path',
  })
}

/**
 * Resolves a plain path and the links in it. Returns `undefined` if nothing exists there.
 *
 * @throws PerdureError `validation-failed` if the path resolves outside the root
 */
export async function resolveInside(
  access: Pick<FileAccess, 'realpath'>,
  root: string,
  { name, path }: { readonly name: string; readonly path: string },
): Promise<string | undefined> {
  try {
    const realRoot = await access.realpath(root)
    const real = await access.realpath(join(realRoot, path))
    if (real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) return real
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  throw perdureError('validation-failed', { message: `${name}: a link in the path leads outside the allowed folder` })
}

/**
 * Reads a regular file below the root. Returns `undefined` if the file does not exist. Never opens a file outside the
 * root.
 *
 * @throws PerdureError `validation-failed` if the path leads outside, or if the file is not regular or exceeds `maxBytes`
 */
export async function readContainedFile(
  access: FileAccess,
  root: string,
  { path, maxBytes }: { readonly path: string; readonly maxBytes: number },
): Promise<Uint8Array | undefined> {
  checkPlainPath('path', path)
  const real = await resolveInside(access, root, { name: 'path', path })
  if (real === undefined) return undefined
  const file = await access.open(real).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw perdureError('validation-failed', { message: `path: ${path} cannot be read`, cause: error })
  })
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw perdureError('validation-failed', { message: `path: ${path} is not a file` })
    if (stats.size > maxBytes) {
      throw perdureError('validation-failed', {
        message: `path: ${path} is larger than ${maxBytes} bytes`,
        hint: 'raise skills.maxFileBytes',
      })
    }
    const buffer = Buffer.alloc(Number(stats.size))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
