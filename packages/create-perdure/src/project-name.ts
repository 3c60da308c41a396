import { basename } from 'node:path'

/** What npm accepts as the name of a package, without a scope. */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/

/** The name of a project in this folder: the name of the folder, if npm accepts it as the name of a package. */
export function projectNameOf(folder: string): string | undefined {
  const name = basename(folder)
  return PACKAGE_NAME.test(name) ? name : undefined
}
