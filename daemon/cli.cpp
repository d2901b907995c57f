// daemon/cli.cpp - the command line: what every command is given, and what its exit status means.
#include "daemon/cli.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "daemon/commands/catalog.h"
#include "daemon/commands/config.h"
#include "daemon/commands/demo.h"
#include "daemon/commands/doctor.h"
#include "daemon/commands/hum.h"
#include "daemon/commands/identify.h"
#include "daemon/commands/ingest.h"
#include "daemon/commands/plays.h"
#include "daemon/commands/run.h"
#include "db/store.h"
#include "fingerprint/index.h"
#include "kernels/device.h"

namespace spintag::daemon {

namespace {

/// What the command line asked for: set by the parser, run after it.
using Command = std::function<int()>;

class CommandLine {
 public:
  CommandLine() : app_("Knows which song a radio station is playing.", "spintag") {
    app_.set_version_flag("--version", "spintag " SPINTAG_VERSION);
    app_.require_subcommand(1);
    app_.footer("spintag COMMAND --help says more about a command.");
    add_common(app_);
    add_run();
    add_ingest();
    add_identify();
    add_hum();
    add_catalog();
    add_plays();
    add_config();
    add_doctor();
    add_demo();
  }

  int run(int argc, const char* const* argv) {
    try {
      app_.parse(separated(argc, argv));
    } catch (const CLI::ParseError& error) {
      const bool asked_for = error.get_exit_code() == 0;  // --help, --version
      app_.exit(error);
      return asked_for ? kDone : kUsage;
    }
    return command_();
  }

 private:
  void add_common(CLI::App& to) {
    constexpr const char* kGroup = "Common options";
    to.add_option("--database", common_.database, "PostgreSQL URL; none = a private cluster")
        ->type_name("URL")
        ->group(kGroup);
    to.add_option("--device", common_.device, "where to compute: auto, cpu or cuda:N")
        ->type_name("DEVICE")
        ->group(kGroup);
    to.add_option("--config", common_.config, "settings (TOML)")->type_name("FILE")->group(kGroup);
    to.add_option("--log-level", common_.log_level, "trace, debug, info, warn, error or off")
        ->type_name("LEVEL")
        ->group(kGroup);
  }

  CLI::App& add(CLI::App& parent, const char* name, const char* what, Command command) {
    CLI::App& sub = *parent.add_subcommand(name, what);
    add_common(sub);
    sub.callback([this, command = std::move(command)] { command_ = command; });
    return sub;
  }

  // A command that only holds other commands.
  CLI::App& add_family(const char* name, const char* what) {
    CLI::App& family = *app_.add_subcommand(name, what);
    family.require_subcommand(1);
    add_common(family);
    return family;
  }

  void add_run() {
    add(app_, "run", "listen to the stations of the configuration, until stopped",
        [this] { return run_daemon(common_); });
  }

  void add_ingest() {
    CLI::App& ingest = add(app_, "ingest", "take recordings and tunes into the catalogue",
                           [this] { return run_ingest(common_, ingest_); });
    ingest
        .add_option("PATH", ingest_.paths,
                    "files (recordings, .mid, .notes), folders and playlists (.m3u, .m3u8, .pls)")
        ->required()
        ->type_name("");
    ingest.add_option("-j,--jobs", ingest_.jobs, "files at a time (default: one for each core)")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
    ingest
        .add_option("--metadata", ingest_.metadata,
                    "CSV with a column file and any of title, artist, album, label, composer, "
                    "isrc, recording_mbid: wins over the tags")
        ->type_name("FILE");
    ingest.add_flag("--no-melodies", ingest_.no_melodies,
                    "do not take the melodies of recordings (melody.from_recordings)");
    ingest.add_flag("--json", ingest_.json, "one JSON object a file, and a summary");
  }

  void add_identify() {
    CLI::App& identify = add(app_, "identify", "name the songs in files or on a stream",
                             [this] { return run_identify(common_, identify_); });
    identify
        .add_option("SOURCE", identify_.sources, "files, http(s) URLs, or - for standard input")
        ->required()
        ->type_name("");
    identify.add_flag("--json", identify_.json, "one JSON object a file");
    identify
        .add_option("--index", identify_.index,
                    "answer from this snapshot, with no database (catalog export --index)")
        ->type_name("SNAPSHOT");
    identify
        .add_option("--threshold", identify_.threshold,
                    "least confidence of an answer (default: recognition.threshold)")
        ->type_name("P")
        ->check(CLI::Range(0.0, 1.0));
    identify
        .add_option("--seconds", identify_.seconds,
                    "hear no more than that (default: all; 30 of an endless stream)")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
  }

  void add_hum() {
    CLI::App& hum = add(app_, "hum", "name the tune that somebody hums or sings",
                        [this] { return run_hum(common_, hum_); });
    hum.add_option("FILE", hum_.file, "a recording of it, or - for standard input")
        ->required()
        ->type_name("");
    hum.add_option("--top", hum_.top, "answers, the likeliest first (default: 10)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    hum.add_flag("--json", hum_.json, "one JSON object");
  }

  void add_catalog() {
    CLI::App& catalog = add_family("catalog", "look at, correct, move or remove what is known");
    CLI::App& list =
        add(catalog, "list", "every track", [this] { return run_catalog_list(common_, list_); });
    list.add_flag("--json", list_.json, "one JSON object a track");
    list.add_option("--limit", list_.limit, "no more than that")->type_name("N");

    CLI::App& show = add(catalog, "show", "everything about a track",
                         [this] { return run_catalog_show(common_, shown_, show_json_); });
    show.add_option("ID", shown_, "track")->required()->type_name("");
    show.add_flag("--json", show_json_, "as JSON");

    add_catalog_edit(catalog);

    CLI::App& remove = add(catalog, "remove", "forget tracks",
                           [this] { return run_catalog_remove(common_, removed_); });
    remove.add_option("ID", removed_, "tracks")->required()->type_name("");

    CLI::App& export_to = add(catalog, "export", "write the catalogue to a file", [this] {
      if (export_.index.empty() && export_.json.empty()) export_.json = "-";
      return run_catalog_export(common_, export_);
    });
    export_to.add_option("--index", export_.index, "an index snapshot, for identify --index")
        ->type_name("FILE");
    export_to
        .add_option("--json", export_.json, "NDJSON, for catalog import (- = standard output)")
        ->type_name("FILE");

    CLI::App& import_from = add(catalog, "import", "take in what catalog export --json wrote",
                                [this] { return run_catalog_import(common_, import_); });
    import_from.add_option("FILE", import_, "NDJSON (- = standard input)")
        ->required()
        ->type_name("");
  }

  void add_catalog_edit(CLI::App& catalog) {
    CLI::App& edit = add(catalog, "edit", "correct what is said about a track",
                         [this] { return run_catalog_edit(common_, edit_); });
    edit.add_option("ID", edit_.track_id, "track")->required()->type_name("");
    const auto text = [&edit](const char* name, std::optional<std::string>& value,
                              const char* what = "") {
      const auto take = [&value](const std::string& given) { value = given; };
      return edit.add_option_function<std::string>(name, take, what)->type_name("TEXT");
    };
    text("--title", edit_.title);
    text("--artist", edit_.artist);
    text("--album", edit_.album);
    text("--label", edit_.label);
    text("--composer", edit_.composer);
    text("--isrc", edit_.isrc, "several: blank or comma between")->type_name("ISRC");
    text("--recording-mbid", edit_.recording_mbid, "MusicBrainz recording")->type_name("UUID");
    text("--extra", edit_.extra, "anything else, a JSON object")->type_name("JSON");
    edit.footer("--artist= clears the artist, and so on.");
  }

  void add_plays() {
    CLI::App& plays =
        add(app_, "plays", "what was on air", [this] { return run_plays(common_, plays_); });
    plays.add_option("--station", plays_.station, "only this one")->type_name("NAME");
    plays
        .add_option("--from", plays_.from,
                    "since: 2026-03-01, 2026-03-01T12:00:00Z, or 2h ago (s, m, h, d, w); UTC")
        ->type_name("TIME");
    plays.add_option("--to", plays_.to, "until, in the same forms; a date alone is that whole day")
        ->type_name("TIME");
    plays.add_option("--format", plays_.format, "csv or json (default: a table, csv on a pipe)")
        ->type_name("FORMAT");
  }

  void add_config() {
    CLI::App& family = add_family("config", "the settings");
    add(family, "check", "are they right?", [this] { return run_config_check(common_); });
    add(family, "print", "what is in force, and where it comes from",
        [this] { return run_config_print(common_); });
  }

  void add_doctor() {
    CLI::App& doctor = add(app_, "doctor", "what works on this box, and how to mend what does not",
                           [this] { return run_doctor(common_, doctor_); });
    doctor.add_flag("--json", doctor_.json, "one JSON object a finding");
    doctor.add_flag("--replay-dead", doctor_.replay_dead,
                    "send the events again that were given up");
  }

  void add_demo() {
    CLI::App& demo = add(app_, "demo", "a radio station and its listener on this box",
                         [this] { return run_demo(common_, demo_); });
    demo.add_option("--music,FOLDER", demo_.music, "recordings to play")->type_name("FOLDER");
    demo.add_option("--seconds", demo_.seconds, "end by itself (default: at Ctrl-C)")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    demo.add_option("--port", demo_.port, "of the status page (default: any free one)")
        ->type_name("N")
        ->check(CLI::Range(0, 65535));
  }

  // "--artist=" as two arguments, the second empty: CLI11 takes it for an option without its value.
  // In reverse order, as CLI11 wants a vector.
  static std::vector<std::string> separated(int argc, const char* const* argv) {
    std::vector<std::string> arguments;
    bool options_ended = false;
    for (int i = 1; i < argc; ++i) {
      std::string argument = argv[i];
      options_ended = options_ended || argument == "--";
      const bool cleared = !options_ended && argument.starts_with("--") && argument.ends_with('=');
      if (cleared) argument.pop_back();
      arguments.push_back(std::move(argument));
      if (cleared) arguments.emplace_back();
    }
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
  }

  CLI::App app_;
  Command command_;
  CommonOptions common_;
  IngestOptions ingest_;
  IdentifyOptions identify_;
  HumOptions hum_;
  CatalogListOptions list_;
  std::int64_t shown_ = 0;
  bool show_json_ = false;
  CatalogEdit edit_;
  std::vector<std::int64_t> removed_;
  CatalogExport export_;
  std::string import_;
  PlaysOptions plays_;
  DoctorOptions doctor_;
  DemoOptions demo_;
};

// The whole chain of a nested exception: "outer: inner".
std::string chain_of(const std::exception& error) {
  std::string text = error.what();
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& inner) {
    text += ": " + chain_of(inner);
  }
  return text;
}

int say(const std::exception& error, int status) {
  std::cout.flush();
  std::cerr << "spintag: " << chain_of(error) << std::endl;
  return status;
}

// stdout belongs to what a command answers.
void log_to_stderr() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("spintag"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
}

}  // namespace

config::Loaded load_settings(const CommonOptions& options) {
  config::Loaded loaded =
      config::load(options.config, {options.database, options.device, options.log_level});
  spdlog::set_level(spdlog::level::from_str(loaded.settings.log_level));
  return loaded;
}

int run_cli(int argc, const char* const* argv) {
  try {
    log_to_stderr();
    // `spintag ... | head` is no reason to leave without stopping the private cluster.
    std::signal(SIGPIPE, SIG_IGN);
    return CommandLine().run(argc, argv);
  } catch (const config::ConfigError& error) {
    return say(error, kUsage);
  } catch (const fingerprint::IndexError& error) {
    return say(error, kUsage);
  } catch (const db::StoreError& error) {
    return say(error, error.kind() == db::StoreError::Kind::refused ? kSomeFailed : kUnreachable);
  } catch (const kernels::DeviceError& error) {
    return say(error, kUnreachable);
  } catch (const std::exception& error) {
    return say(error, kSomeFailed);
  }
}

}  // namespace spintag::daemon
