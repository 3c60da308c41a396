import { field, section } from './section.ts'
import { bytes, strings } from './values.ts'

export const SkillsSection = section({
  directories: field(strings, [], {
    note: 'Folders that contain skills: each child folder with a SKILL.md is a skill. New skills are installed into the first folder.',
  }),
  sources: field(strings, [], { note: 'Folders that skills can be installed from.' }),
  maxFileBytes: field(bytes, 1_048_576, { note: 'Maximum size of a skill file that can be read, in bytes.' }),
  maxInstallBytes: field(bytes, 67_108_864, { note: 'Maximum size of a skill that can be installed, in bytes.' }),
})
