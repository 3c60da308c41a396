import type { FormField } from './form-field.ts'

/** The inputs of a form that a schema describes. */
export function SchemaForm({
  fields,
  texts,
  onChange,
}: {
  readonly fields: readonly FormField[]
  readonly texts: Readonly<Record<string, string>>
  readonly onChange: (name: string, text: string) => void
}) {
  return (
    <>
      {fields.map((field) => {
        const { name, schema, isRequired } = field
        const about = schema.description
        const hintId = `about-${name}`
        return (
          <div key={name} class="field">
            <label for={`field-${name}`}>
              {schema.title ?? name}
              {isRequired ? <span class="required"> required</span> : null}
            </label>
            <FieldInput
              field={field}
              text={texts[name] ?? ''}
              onInput={(text) => onChange(name, text)}
              hintId={about === undefined ? undefined : hintId}
            />
            {about === undefined ? null : (
              <p id={hintId} class="quiet">
                {about}
              </p>
            )}
          </div>
        )
      })}
    </>
  )
}

interface FieldInputProps {
  readonly field: FormField
  readonly text: string
  readonly onInput: (text: string) => void
  readonly hintId: string | undefined
}

function FieldInput({ field: { name, kind, schema, isRequired }, text, onInput, hintId }: FieldInputProps) {
  const common = { id: `field-${name}`, 'aria-describedby': hintId, required: isRequired }
  const read = ({
    currentTarget,
  }: {
    readonly currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement
  }) => onInput(currentTarget.value)
  switch (kind) {
    case 'choice':
      return (
        <select {...common} value={text} onChange={read}>
          <option value="">–</option>
          {schema.enum?.map((value) => (
            <option key={String(value)} value={JSON.stringify(value)}>
              {String(value)}
            </option>
          ))}
        </select>
      )
    case 'boolean':
      return (
        <select {...common} value={text} onChange={read}>
          <option value="">–</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      )
    case 'number':
    case 'integer':
      return (
        <input
          {...common}
          type="number"
          step={kind === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          value={text}
          onInput={read}
        />
      )
    case 'text':
      return (schema.maxLength ?? 1_000) > 120 && schema.format === undefined ? (
        <textarea {...common} rows={2} maxLength={schema.maxLength} value={text} onInput={read} />
      ) : (
        <input {...common} type="text" maxLength={schema.maxLength} value={text} onInput={read} />
      )
    case 'json':
      return <textarea {...common} rows={3} class="code" placeholder="JSON" value={text} onInput={read} />
  }
}
