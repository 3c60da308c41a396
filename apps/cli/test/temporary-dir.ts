import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** Creates an empty folder for each test of the file or block. The returned function gives its path. */
export function temporaryDir(): () => string {
  let dir: string
  beforeEach(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), 'perdure-cli-')))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))
  return () => dir
}
