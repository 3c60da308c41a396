import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { perdureError, type SkillContent } from '@perdure/ports'
import { checkPlainPath, readContainedFile, resolveInside } from './contained-file.ts'
import { requireSkill, type SkillReadOptions } from './read-skill.ts'

export interface InstallOptions extends SkillReadOptions {
  readonly directories: readonly string[]
  readonly sources: readonly string[]
  readonly maxInstallBytes: number
}

/**
 * Copies the folder of a skill into a temporary folder and moves the copy into the directory atomically. Links are not
 * copied.
 *
 * @throws PerdureError `skill-exists`, `validation-failed`
 */
export async function installSkill(options: InstallOptions, source: string): Promise<SkillContent> {
  const [directory] = options.directories
  checkPlainPath('source', source)
  if (directory === undefined) {
    throw perdureError('validation-failed', {
      message: 'skills.directories is empty, so skills cannot be installed',
      hint: 'set skills.directories',
    })
  }
  const folder = await findSource(options, source)
  const skill = await requireSkill(options, { path: folder, name: basename(folder) })

  await mkdir(directory, { recursive: true })
  const copy = await mkdtemp(join(directory, '.installing-'))
  try {
    await copyFiles(options, { folder, copy, files: ['SKILL.md', ...skill.files] })
    await moveTo(join(directory, skill.name), copy)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
  return skill
}

/** Hides the folder atomically, then deletes it. */
export async function removeSkill(folder: string): Promise<void> {
  const hidden = join(dirname(folder), `.removing-${randomUUID()}`)
  await rename(folder, hidden)
  await rm(hidden, { recursive: true, force: true })
}

async function findSource({ sources, access }: InstallOptions, source: string): Promise<string> {
  for (const root of sources) {
    const real = await resolveInside(access, root, { name: 'source', path: source })
    if (real !== undefined) return real
  }
  throw invalid('no source directory contains this folder')
}

interface CopyRequest {
  readonly folder: string
  readonly copy: string
  readonly files: readonly string[]
}

async function copyFiles(options: InstallOptions, { folder, copy, files }: CopyRequest): Promise<void> {
  const { access, maxInstallBytes } = options
  let left = maxInstallBytes
  for (const path of files) {
    const bytes = await readContainedFile(access, folder, { path, maxBytes: left })
    if (bytes === undefined) throw invalid(`${path} was removed during the installation`)
    left -= bytes.length
    const target = join(copy, path)
    await mkdir(dirname(target), { recursive: true })
    await writeDurably(target, bytes)
  }
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o644)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A rename succeeds only if the target is missing or empty, so the second of two concurrent installations fails. */
async function moveTo(target: string, copy: string): Promise<void> {
  await chmod(copy, 0o755)
  try {
    await rename(copy, target)
  } catch (error) {
    const isTaken = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
    throw isTaken ? perdureError('skill-exists') : error
  }
}

const invalid = (message: string) => perdureError('validation-failed', { message: `source: ${message}` })
