import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { SkillFixture } from '@perdure/testkit'
import { stringify } from 'yaml'
import { createFileSkillStore, type FileSkillStoreOptions } from './file-skill-store.ts'

export async function writeFiles(root: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

export const skillText = ({ name, description, metadata, instructions }: SkillFixture): string =>
  `---\n${stringify({ name, description, ...metadata })}---\n\n${instructions}`

export const writeSkill = (root: string, skill: SkillFixture): Promise<void> =>
  writeFiles(join(root, skill.name), { 'SKILL.md': skillText(skill), ...skill.files })

/** Opens a store over new temporary folders. */
export async function openSkills(over: Partial<FileSkillStoreOptions> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'perdure-skills-'))
  const directory = join(root, 'skills')
  const source = join(root, 'sources')
  const options = {
    directories: [directory],
    sources: [source],
    maxFileBytes: 10_000,
    maxInstallBytes: 20_000,
    ...over,
  }
  return { root, directory, source, store: createFileSkillStore(options) }
}
