import { join, sep } from 'node:path'
import { AppError } from '@perdure/ports'
import { type FileAccess, isMissing } from './file-access.ts'

const MAX_PATH_LENGTH = 1_024

/** @throws AppError `validation-failed` unless the path is relative, by `/`, and goes nowhere but down */
export function checkPlainPath(name: string, path: string): void {
  const isPlain =
    path.length <= MAX_PATH_LENGTH &&
    !/[\0\\]/.test(path) &&
    !/^[A-Za-z]:/.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (isPlain) return
  throw new AppError('validation-failed', {
    message: `${name}: must be a relative path below its folder`,
    hint: 'separate folders by /, without . and .. and backslashes',
  })
}

/**
 * Where a plain path leads when every link on its way is followed; `undefined` when there is nothing.
 *
 * @throws AppError `validation-failed` when that is outside the root
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
  throw new AppError('validation-failed', { message: `${name}: leads out of its folder` })
}

/**
 * The bytes of a regular file below the root; `undefined` when there is none. Nothing outside is opened.
 *
 * @throws AppError `validation-failed` when the path leads outside, to no regular file, or to more than `maxBytes`
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
    throw new AppError('validation-failed', { message: `path: ${path} cannot be read`, cause: error })
  })
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new AppError('validation-failed', { message: `path: ${path} is not a file` })
    if (stats.size > maxBytes) {
      throw new AppError('validation-failed', {
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
