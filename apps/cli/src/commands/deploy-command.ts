import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { DEPLOYMENTS } from '../manifest/deployments.ts'
import { packageFile } from '../package-file.ts'

export async function deployPrintCommand({ out }: Call, { what }: { readonly what: string }): Promise<void> {
  const file = Object.hasOwn(DEPLOYMENTS, what) ? DEPLOYMENTS[what] : undefined
  if (file === undefined)
    throw usageError(`unknown deployment file ${what}`, `choose one of ${Object.keys(DEPLOYMENTS).join(', ')}`)
  const text = await readFile(new URL(file, FOLDER), 'utf8')
  out.document({ what, file: basename(file), text }, () => text)
}

/** The build copies the folder next to the code, because a package cannot contain files outside its folder. */
const FOLDER = packageFile(import.meta.url.endsWith('.ts') ? '../../deploy/' : 'dist/deploy/')
