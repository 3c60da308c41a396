import { AppError, type SkillContent } from '@perdure/ports'
import { OPERATOR_ID } from '@perdure/protocol'
import { readContainedFile } from './contained-file.ts'
import type { FileAccess } from './file-access.ts'
import { listFiles } from './list-files.ts'

export interface Reading {
  readonly access: FileAccess
  readonly maxFileBytes: number
}

/** A folder that may be a skill. */
export interface SkillFolder {
  readonly path: string
  readonly name: string
}

/** What its `SKILL.md` says, or why nobody can know; `undefined` when it has none, and so is no skill. */
export async function readSkill(reading: Reading, folder: SkillFolder): Promise<SkillContent | undefined> {
  const { access, maxFileBytes } = reading
  const { name, path } = folder
  try {
    const bytes = await readContainedFile(access, path, { path: 'SKILL.md', maxBytes: maxFileBytes })
    if (bytes === undefined) return undefined
    if (!OPERATOR_ID.test(name)) throw new Error('the name of its folder is not one that a skill can have')
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    // Loaded with the first skill: reading YAML takes more memory than most servers have skills.
    const { parseSkillDocument } = await import('./skill-document.ts')
    const files = (await listFiles(access, path)).filter((file) => file !== 'SKILL.md')
    return { ...parseSkillDocument(text, name), status: 'ready', files }
  } catch (error) {
    const reason = error instanceof TypeError ? 'SKILL.md is not UTF-8 text' : (error as Error).message
    return { name, description: '', status: 'failing', reason, instructions: '', files: [] }
  }
}

/** @throws AppError `validation-failed` for a folder that is no skill or a failing one */
export async function requireSkill(reading: Reading, folder: SkillFolder): Promise<SkillContent> {
  const skill = await readSkill(reading, folder)
  if (skill?.status === 'ready') return skill
  const problem = skill?.reason ?? 'there is no SKILL.md in it'
  throw new AppError('validation-failed', { message: `source: ${problem}`, hint: 'correct the skill in its source' })
}
