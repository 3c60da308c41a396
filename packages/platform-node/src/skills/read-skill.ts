import { perdureError, type SkillContent } from '@perdure/ports'
import { OPERATOR_ID } from '@perdure/protocol'
import { readContainedFile } from './contained-file.ts'
import type { FileAccess } from './file-access.ts'
import { listFiles } from './list-files.ts'

export interface SkillReadOptions {
  readonly access: FileAccess
  readonly maxFileBytes: number
}

/** A folder that may hold a skill. */
export interface SkillFolder {
  readonly path: string
  readonly name: string
}

/**
 * Reads a skill. Returns a broken skill as `failing` with the reason, and `undefined` for a folder without `SKILL.md`.
 */
export async function readSkill(reading: SkillReadOptions, folder: SkillFolder): Promise<SkillContent | undefined> {
  const { access, maxFileBytes } = reading
  const { name, path } = folder
  try {
    const bytes = await readContainedFile(access, path, { path: 'SKILL.md', maxBytes: maxFileBytes })
    if (bytes === undefined) return undefined
    if (!OPERATOR_ID.test(name)) throw new Error('the folder name is not a valid skill name')
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    // The YAML parser is loaded with the first skill, to save memory on a server without skills.
    const { parseSkillDocument } = await import('./skill-document.ts')
    const files = (await listFiles(access, path)).filter((file) => file !== 'SKILL.md')
    return { ...parseSkillDocument(text, name), status: 'ready', files }
  } catch (error) {
    const reason = error instanceof TypeError ? 'SKILL.md is not UTF-8 text' : (error as Error).message
    return { name, description: '', status: 'failing', reason, instructions: '', files: [] }
  }
}

/** @throws PerdureError `validation-failed` for a folder without a skill or with a failing skill */
export async function requireSkill(reading: SkillReadOptions, folder: SkillFolder): Promise<SkillContent> {
  const skill = await readSkill(reading, folder)
  if (skill?.status === 'ready') return skill
  const problem = skill?.reason ?? 'the folder has no SKILL.md'
  throw perdureError('validation-failed', { message: `source: ${problem}`, hint: 'fix the skill in its source folder' })
}
