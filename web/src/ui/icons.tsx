import type { ComponentChildren, JSX } from "preact";

export function PeopleIcon(): JSX.Element {
  return (
    <Icon>
      <circle cx="9" cy="8" r="3.5" />
      <path d="M2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6" />
      <path d="M16 4.8a3.5 3.5 0 0 1 0 6.4M18.5 14.6c1.9.9 3 2.8 3 5.4" />
    </Icon>
  );
}

export function TabsIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M4 5h16v11H9l-5 4z" />
    </Icon>
  );
}

export function BackIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M20 12H5M11 6l-6 6 6 6" />
    </Icon>
  );
}

export function SearchIcon(): JSX.Element {
  return (
    <Icon>
      <circle cx="10.5" cy="10.5" r="6.5" />
      <path d="M15.5 15.5 20 20" />
    </Icon>
  );
}

export function SendIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M4 12h15M13 6l6 6-6 6" />
    </Icon>
  );
}

export function ArrowDownIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M12 5v14M6 13l6 6 6-6" />
    </Icon>
  );
}

export function CloseIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M6 6l12 12M18 6L6 18" />
    </Icon>
  );
}

export function ReactIcon(): JSX.Element {
  return (
    <Icon>
      <circle cx="12" cy="12" r="9" />
      <path d="M8.5 14.2c.8 1.3 2 2 3.5 2s2.7-.7 3.5-2M9 9.5v.5M15 9.5v.5" />
    </Icon>
  );
}

export function ReplyIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M9.5 6 4 11.5 9.5 17M4.5 11.5H14c3.5 0 6 2.3 6 6.5" />
    </Icon>
  );
}

export function EditIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M4.5 19.5 5.5 15 15.8 4.7a1.8 1.8 0 0 1 2.5 0l1 1a1.8 1.8 0 0 1 0 2.5L9 18.5z" />
    </Icon>
  );
}

export function DeleteIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M4.5 6.5h15M9.5 6.5V4.5h5v2M6.5 6.5l.8 13h9.4l.8-13M10.3 10.5v5M13.7 10.5v5" />
    </Icon>
  );
}

export function MoreIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M5 12h.01M12 12h.01M19 12h.01" stroke-width="3" />
    </Icon>
  );
}

export function BellIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4" />
    </Icon>
  );
}

export function MuteIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M8.5 6.1A6 6 0 0 1 18 11v4.5M6 9.5v7L4.5 18H17M10 20.5h4M4 4l16 16" />
    </Icon>
  );
}

export function ArchiveIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M4 5h16v4H4zM5.5 9v10h13V9M10 13h4" />
    </Icon>
  );
}

export function BlockIcon(): JSX.Element {
  return (
    <Icon>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M6 6l12 12" />
    </Icon>
  );
}

export function CheckIcon(): JSX.Element {
  return (
    <Icon>
      <path d="M5 12.5 10 17.5 19.5 7" />
    </Icon>
  );
}

function Icon({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      {children}
    </svg>
  );
}
