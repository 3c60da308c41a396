import { join } from 'node:path'
import type { SkillContent, SkillStore, SkillSummary } from '@perdure/ports'
import { OPERATOR_ID } from '@perdure/protocol'
import { checkPlainPath, readContainedFile } from './contained-file.ts'
import { type FileAccess, fileAccess, isMissing } from './file-access.ts'
import { installSkill, removeSkill } from './install-skill.ts'
import { readSkill, type SkillFolder } from './read-skill.ts'

export interface FileSkillStoreOptions {
  /** Absolute folders; each child folder with a `SKILL.md` is a skill. Skills are installed into the first folder. */
  readonly directories: readonly string[]
  /** Absolute folders that skills may be installed from. */
  readonly sources: readonly string[]
  readonly maxFileBytes: number
  readonly maxInstallBytes: number
  readonly access?: FileAccess
}

const MAX_SKILLS = 1_000

/**
 * Stores each skill in its own folder. Every call reads the folders again. A missing directory counts as empty and may
 * be created later. Links in a directory are not skills.
 */
export function createFileSkillStore(options: FileSkillStoreOptions): SkillStore {
  const { directories, maxFileBytes, access = fileAccess } = options
  const reading = { ...options, access }

  /** The child folders of all directories; of several folders with the same name, the first wins. */
  const folders = async (): Promise<readonly SkillFolder[]> => {
    const found = new Map<string, string>()
    for (const directory of directories) {
      for (const name of await childFolders(access, directory)) {
        if (!found.has(name)) found.set(name, join(directory, name))
      }
    }
    return Array.from(found, ([name, path]) => ({ name, path })).sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  const findSkill = async (name: string): Promise<{ folder: SkillFolder; skill: SkillContent } | undefined> => {
    if (!OPERATOR_ID.test(name)) return undefined
    const folder = (await folders()).find((one) => one.name === name)
    const skill = folder === undefined ? undefined : await readSkill(reading, folder)
    return folder === undefined || skill === undefined ? undefined : { folder, skill }
  }

  return {
    async list() {
      const skills: SkillSummary[] = []
      for (const folder of await folders()) {
        const skill = await readSkill(reading, folder)
        if (skill !== undefined) skills.push(toSummary(skill))
        if (skills.length === MAX_SKILLS) break
      }
      return skills
    },
    find: async (name) => (await findSkill(name))?.skill,
    async readFile(name, path) {
      checkPlainPath('path', path)
      const found = await findSkill(name)
      return found === undefined
        ? undefined
        : readContainedFile(access, found.folder.path, { path, maxBytes: maxFileBytes })
    },
    install: async (source) => toSummary(await installSkill(reading, source)),
    async remove(name) {
      const found = await findSkill(name)
      if (found !== undefined) await removeSkill(found.folder.path)
      return found !== undefined
    },
  }
}

async function childFolders(access: FileAccess, directory: string): Promise<readonly string[]> {
  try {
    const entries = await access.readdir(directory)
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const toSummary = ({ name, description, status, reason, metadata }: SkillContent): SkillSummary => ({
  ...{ name, description, status },
  ...(reason === undefined ? {} : { reason }),
  ...(metadata === undefined ? {} : { metadata }),
})
