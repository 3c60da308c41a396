import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { listOf, PageEntries } from '../resources/list.ts'
import { InstallSkillRequest, Skill, SkillDocument } from '../resources/skills.ts'

export const skillOperations = {
  listSkills: {
    id: 'skills.list',
    method: 'GET',
    path: '/skills',
    scope: 'skills:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(Skill), description: 'The skills, by name.' } },
    errors: [],
    summary: 'List skills.',
  },
  getSkill: {
    id: 'skills.get',
    method: 'GET',
    path: '/skills/:skillName',
    scope: 'skills:read:{skillName}',
    idempotent: false,
    responses: { 200: { schema: SkillDocument, description: 'The skill with its instructions.' } },
    errors: ['skill-not-found'],
    summary: 'Read a skill.',
  },
  installSkill: {
    id: 'skills.install',
    method: 'POST',
    path: '/skills/install',
    scope: 'skills:install',
    idempotent: true,
    body: InstallSkillRequest,
    responses: { 201: { schema: Skill, location: true, description: 'Installed.' } },
    errors: ['skill-exists', 'audit-unavailable'],
    summary: 'Install a skill from a configured source directory.',
  },
  removeSkill: {
    id: 'skills.remove',
    method: 'DELETE',
    path: '/skills/:skillName',
    scope: 'skills:install:{skillName}',
    idempotent: true,
    responses: { 204: { description: 'The skill is removed.' } },
    errors: ['skill-not-found', 'audit-unavailable'],
    summary: 'Remove a skill.',
  },
} as const satisfies OperationTable
