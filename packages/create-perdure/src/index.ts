export { installSteps } from './install-steps.ts'
export { makeDirectory } from './make-directory.ts'
export { projectNameOf } from './project-name.ts'
export {
  DEFAULT_TEMPLATE,
  readTemplate,
  TEMPLATE_NAMES,
  TEMPLATES,
  type TemplateFile,
  type TemplateName,
} from './templates.ts'
export { writeFiles } from './write-files.ts'
