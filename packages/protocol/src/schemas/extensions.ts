import {
  BindMcpServerRequest,
  CallToolRequest,
  McpServer,
  McpTool,
  ToolFailed,
  ToolFailure,
  ToolResult,
  ToolSucceeded,
} from '../resources/mcp.ts'
import { InstallSkillRequest, Skill, SkillDocument } from '../resources/skills.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

const SKILL_MEMBERS = {
  name: 'Name of the skill.',
  description: 'Purpose of the skill, from its front matter.',
  status: 'Whether runs can use the skill.',
  reason: 'Why the status is `failing`. Absent otherwise.',
  metadata: 'Other members of the front matter. Absent when there are none.',
}

const skill = { name: 'release', description: 'Prepares a release.', status: 'ready' } as const
const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const success = { ok: true, value: { degrees: 21 } } as const
const failure = { kind: 'timeout', message: 'the tool did not answer within 30 seconds' } as const

export const extensionSchemas = {
  Skill: namedObject(Skill, {
    description: 'A folder with instructions and files that runs can read.',
    members: SKILL_MEMBERS,
    example: skill,
  }),
  SkillDocument: namedObject(SkillDocument, {
    description: 'A skill with its instructions.',
    members: {
      ...SKILL_MEMBERS,
      instructions: 'Text of `SKILL.md` below its front matter.',
      files: 'Paths of the other files, relative to the folder of the skill.',
    },
    example: { ...skill, instructions: 'Write the changelog first.', files: ['checklist.md'] },
  }),
  InstallSkillRequest: namedObject(InstallSkillRequest, {
    description: 'Installs a skill from a configured source directory.',
    members: { source: 'Folder inside a source directory, 1 to 1,024 characters.' },
    example: { source: 'release' },
  }),
  McpServer: namedObject(McpServer, {
    description: 'A Model Context Protocol server.',
    members: {
      id: 'Id of the MCP server.',
      transport: 'How Perdure connects to the MCP server.',
      url: 'Address. Present only when `transport` is `http`.',
      status: 'State of the connection.',
      source: 'Whether the configuration or a request added it.',
    },
    example: {
      id: 'weather',
      transport: 'http',
      url: 'https://mcp.example.com/weather',
      status: 'connected',
      source: 'api',
    },
  }),
  BindMcpServerRequest: namedObject(BindMcpServerRequest, {
    description: 'Adds an MCP server that is reached over HTTP.',
    members: {
      id: 'Id of the MCP server: at most 128 letters, digits, `_` or `-`.',
      transport: 'Always `http`: a request can never start a process.',
      url: 'Address. Its host must be in `mcp.allowHosts`.',
      headersRef: 'Secret reference to the headers to send. It must be in `mcp.allowHeadersRefs`. Default: none.',
    },
    example: { id: 'weather', transport: 'http', url: 'https://mcp.example.com/weather' },
  }),
  McpTool: namedObject(McpTool, {
    description: 'A tool of an MCP server.',
    members: {
      name: 'Name of the tool.',
      description: 'Purpose of the tool. Absent when the MCP server states none.',
      inputSchema: 'JSON Schema of the arguments.',
    },
    example: { name: 'forecast', description: 'Returns the forecast for a city.', inputSchema },
  }),
  CallToolRequest: namedObject(CallToolRequest, {
    description: 'Calls a tool.',
    members: { arguments: 'Arguments of the tool, by name. Default: none.' },
    example: { arguments: { city: 'Bern' } },
  }),
  ToolFailure: namedObject(ToolFailure, {
    description: 'How a tool failed.',
    members: { kind: 'Kind of the failure.', message: 'Explanation for people.' },
    example: failure,
  }),
  ToolSucceeded: namedObject(ToolSucceeded, {
    description: 'The tool returned a value.',
    members: { ok: 'Always true.', value: 'Value that the tool returned.' },
    example: success,
  }),
  ToolFailed: namedObject(ToolFailed, {
    description: 'The tool failed. The call itself was made.',
    members: { ok: 'Always false.', error: 'How the tool failed.' },
    example: { ok: false, error: failure },
  }),
  ToolResult: namedValue(ToolResult, {
    description: 'The result of a tool call. `ok` tells whether the tool succeeded.',
    example: success,
  }),
} as const satisfies NamedSchemas
