import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError, type SkillContent } from '@perdure/ports'
import { checkPlainPath, readContainedFile, resolveInside } from './contained-file.ts'
import { type Reading, requireSkill } from './read-skill.ts'

export interface InstallOptions extends Reading {
  readonly directories: readonly string[]
  readonly sources: readonly string[]
  readonly maxInstallBytes: number
}

/**
 * Copies the folder of a skill beside its place and moves it there in one step. Links are not copied.
 *
 * @throws AppError `skill-exists`, `validation-failed`
 */
export async function installSkill(options: InstallOptions, source: string): Promise<SkillContent> {
  const [directory] = options.directories
  checkPlainPath('source', source)
  if (directory === undefined) {
    throw new AppError('validation-failed', {
      message: 'there is no directory to install skills into',
      hint: 'set skills.directories',
    })
  }
  const folder = await findSource(options, source)
  const skill = await requireSkill(options, { path: folder, name: basename(folder) })

  await mkdir(directory, { recursive: true })
  const copy = await mkdtemp(join(directory, '.installing-'))
  try {
    await copyFiles(options, { folder, copy, files: ['SKILL.md', ...skill.files] })
    await moveIntoPlace(copy, join(directory, skill.name))
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
  return skill
}

/** Out of sight in one step, then gone. */
export async function removeSkill(folder: string): Promise<void> {
  const doomed = join(dirname(folder), `.removing-${randomUUID()}`)
  await rename(folder, doomed)
  await rm(doomed, { recursive: true, force: true })
}

async function findSource({ sources, access }: InstallOptions, source: string): Promise<string> {
  for (const root of sources) {
    const real = await resolveInside(access, root, { name: 'source', path: source })
    if (real !== undefined) return real
  }
  throw invalid('there is no such folder in a source directory')
}

interface Copying {
  readonly folder: string
  readonly copy: string
  readonly files: readonly string[]
}

async function copyFiles(options: InstallOptions, { folder, copy, files }: Copying): Promise<void> {
  const { access, maxInstallBytes } = options
  let left = maxInstallBytes
  for (const path of files) {
    const bytes = await readContainedFile(access, folder, { path, maxBytes: left })
    if (bytes === undefined) throw invalid(`${path} has disappeared`)
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

/** A folder moves onto nothing, or onto an empty one; of two at once, the second finds a full one. */
async function moveIntoPlace(copy: string, place: string): Promise<void> {
  await chmod(copy, 0o755)
  try {
    await rename(copy, place)
  } catch (error) {
    const isTaken = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
    throw isTaken ? new AppError('skill-exists') : error
  }
}

const invalid = (message: string) => new AppError('validation-failed', { message: `source: ${message}` })
