import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { record, strictObject } from '../plain-object.ts'

const skill = { name: 'release', description: 'Prepares a release.', status: 'ready' } as const

export const Skill = documented(
  v.object({
    name: member(v.string(), 'Name of the skill.'),
    description: member(v.string(), 'Purpose of the skill, from its front matter.'),
    status: member(v.picklist(['ready', 'failing']), 'Whether runs can use the skill.'),
    reason: member(v.optional(v.string()), 'Why the status is `failing`. Absent otherwise.'),
    metadata: member(
      v.optional(record(v.string(), v.unknown())),
      'Other members of the front matter. Absent when there are none.',
    ),
  }),
  'A folder with instructions and files that runs can read.',
  skill,
)

export const SkillDocument = documented(
  v.object({
    ...Skill.entries,
    instructions: member(v.string(), 'Text of `SKILL.md` below its front matter.'),
    files: member(v.array(v.string()), 'Paths of the other files, relative to the folder of the skill.'),
  }),
  'A skill with its instructions.',
  { ...skill, instructions: 'Write the changelog first.', files: ['checklist.md'] },
)

export const InstallSkillRequest = documented(
  strictObject({
    source: member(
      v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
      'Folder inside a source directory, 1 to 1,024 characters.',
    ),
  }),
  'Installs a skill from a configured source directory.',
  { source: 'release' },
)
