import * as v from 'valibot'
import { record, strictObject } from '../plain-object.ts'

export const Skill = v.object({
  name: v.string(),
  description: v.string(),
  status: v.picklist(['ready', 'failing']),
  reason: v.optional(v.string()),
  metadata: v.optional(record(v.string(), v.unknown())),
})

/** A skill with the instructions below the front matter of its `SKILL.md`. */
export const SkillDocument = v.object({ ...Skill.entries, instructions: v.string(), files: v.array(v.string()) })

/** `source` names a folder inside a configured source directory. */
export const InstallSkillRequest = strictObject({ source: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)) })
